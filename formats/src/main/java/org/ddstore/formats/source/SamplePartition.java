// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.source;

import java.io.IOException;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.connector.read.InputPartition;
import org.ddstore.formats.FileFacts;
import org.ddstore.spark.task.Versioned;

/**
 * Runs of rows of one or several files.
 *
 * @param content the runs, in row order; at least one
 */
record SamplePartition(Versioned<List<Run>> content) implements InputPartition {
  SamplePartition(List<Run> runs) {
    this(Versioned.of(List.copyOf(runs)));
  }

  List<Run> runs() {
    return content.value();
  }

  /** Consecutive rows of one file. */
  record Run(FileFacts file, long from, long count) implements Serializable {}

  @Override
  public String[] preferredLocations() {
    try {
      return runs().get(0).file().file().hosts();
    } catch (IOException e) {
      return new String[0]; // any executor can try, and reports what is wrong
    }
  }
}
