// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats;

import java.io.Serializable;
import org.apache.spark.sql.Row;

/**
 * A function from a file to a record. It runs on executors, in many threads at a time, and more
 * than once for a file: ranks count and read rows again, and Spark repeats failed tasks. It must
 * therefore return the same record for the same file.
 */
@FunctionalInterface
public interface FileFunction extends Serializable {
  /**
   * Returns the record of a file.
   *
   * @param path path below the folder that was read, such as {@code train/7.wav}
   * @param bytes content of the file
   * @return values in the order of the schema; not null
   * @throws Exception if the content is illegal; the read fails with an error that names the file
   */
  Row call(String path, byte[] bytes) throws Exception;
}
