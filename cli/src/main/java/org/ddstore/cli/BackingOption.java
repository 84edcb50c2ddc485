// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.io.IOException;
import org.ddstore.spark.StoreSpec;
import org.ddstore.types.Backing;
import picocli.CommandLine.Option;

/** The option for the memory of the shards, as a mixin. */
final class BackingOption {
  @Option(
      names = "--backing",
      paramLabel = "shm|file|direct",
      description = {
        "Memory that holds the shards: ${COMPLETION-CANDIDATES}; by default that of"
            + " spark.ddstore.backing, shm.",
        "Files are in a temporary directory."
      })
  private Backing backing;

  /** Returns the spec with the requested memory. */
  StoreSpec on(StoreSpec spec, EmbeddedSpark spark) throws IOException {
    if (backing == null) {
      return spec;
    }
    return backing == Backing.FILE ? spec.files(spark.scratch("segments")) : spec.backing(backing);
  }
}
