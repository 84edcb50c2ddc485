// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.chaos;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * What a read finds, compared with all versions that it may find. Serializable, so that ranks
 * compare their own rows.
 */
final class Observation implements Serializable {
  private static final long serialVersionUID = 1L;

  private final List<Version> versions;

  /** First difference from each version, or null. */
  private final List<String> differences;

  private long rows;

  Observation(List<Version> versions) {
    this.versions = List.copyOf(versions);
    this.differences = new ArrayList<>(Collections.nCopies(versions.size(), null));
  }

  /** Compares a row. */
  void row(Version.Read row) {
    rows++;
    note(version -> version.difference(row));
  }

  /** Compares a number that each version has. */
  void number(String name, ToLongFunction<Version> expected, long found) {
    note(
        version ->
            expected.applyAsLong(version) == found
                ? Optional.empty()
                : Optional.of(
                    "expected %s %d, read %d"
                        .formatted(name, expected.applyAsLong(version), found)));
  }

  /** Notes that no version has what was read. */
  void wrong(String difference) {
    note(version -> Optional.of(difference));
  }

  private void note(Function<Version, Optional<String>> difference) {
    for (int i = 0; i < differences.size(); i++) {
      if (differences.get(i) == null) {
        differences.set(i, difference.apply(versions.get(i)).orElse(null));
      }
    }
  }

  /** Adds what another read of the same operation found. */
  void add(Observation other) {
    rows += other.rows;
    for (int i = 0; i < differences.size(); i++) {
      if (differences.get(i) == null) {
        differences.set(i, other.differences.get(i));
      }
    }
  }

  long rows() {
    return rows;
  }

  /** Returns the versions that explain all that was read. */
  List<Version> explained() {
    List<Version> explained = new ArrayList<>();
    for (int i = 0; i < differences.size(); i++) {
      if (differences.get(i) == null) {
        explained.add(versions.get(i));
      }
    }
    return explained;
  }

  @Override
  public String toString() {
    return "%d rows, differences from the versions: %s".formatted(rows, differences);
  }
}
