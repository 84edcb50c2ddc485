// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.types;

import java.util.Objects;
import org.apache.spark.sql.types.StructType;
import org.ddstore.types.Schema;

/**
 * The description of a dump of a resident store.
 *
 * @param path directory of the dump, with the scheme of its file system
 * @param store name of the dumped store
 * @param rows number of rows
 * @param bytes size of the packed records, in bytes
 * @param files number of data files
 * @param digest digest of the rows: 32 hexadecimal digits, independent of the number of ranks
 * @param schema schema of the records
 * @param sourceSchema columns of the DataFrame that the store was loaded from
 */
public record DumpInfo(
    String path,
    String store,
    long rows,
    long bytes,
    int files,
    String digest,
    Schema schema,
    StructType sourceSchema) {

  /**
   * Creates the value and checks it.
   *
   * @param path directory of the dump, with the scheme of its file system
   * @param store name of the dumped store
   * @param rows number of rows
   * @param bytes size of the packed records, in bytes
   * @param files number of data files
   * @param digest digest of the rows
   * @param schema schema of the records
   * @param sourceSchema columns of the DataFrame that the store was loaded from
   */
  public DumpInfo {
    Objects.requireNonNull(path, "path is null");
    Objects.requireNonNull(store, "store is null");
    Objects.requireNonNull(digest, "digest is null");
    Objects.requireNonNull(schema, "schema is null");
    Objects.requireNonNull(sourceSchema, "sourceSchema is null");
  }
}
