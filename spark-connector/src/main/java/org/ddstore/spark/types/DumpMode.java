// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.types;

/** What a dump does with a directory that already contains a dump. */
public enum DumpMode {
  /** Refuses a directory that contains anything. */
  CREATE,
  /**
   * Replaces the dump in the directory, finished or not. The old dump stays readable until the new
   * one is complete. Refuses a directory that contains other files.
   */
  OVERWRITE
}
