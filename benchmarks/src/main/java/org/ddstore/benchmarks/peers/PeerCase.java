// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.peers;

import java.util.Locale;

/** What a peer is asked to do, in the order of a report. */
public enum PeerCase {
  SINGLE("one random row by one call", "µs/row"),
  BATCH("a batch of random rows by one call", "µs/row"),
  EPOCH("an epoch in random order, in batches", "µs/row"),
  SPARSE_BATCH("a batch of random sparse rows by one call", "µs/row"),
  SPARSE_EPOCH("an epoch of sparse rows in random order, in batches", "µs/row"),
  SPARSE_CHUNKS("an epoch of sparse rows, chunks of a batch in random order", "µs/row"),
  START("from opening to the first batch of an epoch", "ms"),
  MEMORY("memory of all processes during an epoch with workers (PSS)", "MiB");

  private final String words;
  private final String unit;

  PeerCase(String words, String unit) {
    this.words = words;
    this.unit = unit;
  }

  public String words() {
    return words;
  }

  public String unit() {
    return unit;
  }

  boolean isEpoch() {
    return this == EPOCH || this == SPARSE_EPOCH || this == SPARSE_CHUNKS;
  }

  /** Returns the name in requests and in JSON. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
