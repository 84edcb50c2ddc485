// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.types;

/** The behaviour of a dump whose directory already contains a dump. */
public enum DumpMode {
  /** Refuses a directory that contains anything. */
  CREATE,
  /**
   * Replaces the dump in the directory, finished or not. The old dump stays readable until the new
   * one is complete. Refuses a directory that contains other files.
   */
  OVERWRITE
}
