// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.chaos;

import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * What a read finds, compared with all versions that it may find. Serializable, so that ranks
 * compare their own rows. What no version explains becomes a file at once: the read may fail later,
 * or be repeated.
 */
final class Observation implements Serializable {
  private static final long serialVersionUID = 1L;

  static final String UNEXPLAINED = "no version explains a read";
  private static final String EVIDENCE = "mismatch-";

  private final List<Version> versions;
  private final String directory;

  /** Rows of which the read must have each once. */
  private final BitSet visited = new BitSet();

  /** First difference from each version, or null. */
  private final List<String> differences;

  private long rows;
  private boolean hasEvidence;

  /**
   * @param directory directory for evidence, which all processes see
   */
  Observation(List<Version> versions, String directory) {
    this.versions = List.copyOf(versions);
    this.directory = directory;
    this.differences = new ArrayList<>(Collections.nCopies(versions.size(), null));
  }

  /** Returns an observation of nothing yet that may find the same versions. */
  Observation copy() {
    return new Observation(versions, directory);
  }

  /** Compares a row. */
  void row(Version.Read row) {
    rows++;
    note(version -> version.difference(row));
  }

  /** Compares a row of a read that must have each row at most once. */
  void rowOnce(Version.Read row) {
    row(row);
    visit(row.index());
  }

  private void visit(long index) {
    if (visited.get((int) index)) {
      wrong("row %d is read twice".formatted(index));
    }
    visited.set((int) index);
  }

  /** Compares the rows that were read once with all rows of a range, as far as it has rows. */
  void visitedAll(long from, long to) {
    note(
        version -> {
          int end = (int) Math.min(to, version.rows());
          int missing = visited.nextClearBit((int) from);
          return missing >= end
              ? Optional.empty()
              : Optional.of("row %d is not read".formatted(missing));
        });
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
    keepEvidence();
  }

  private void keepEvidence() {
    if (hasEvidence || differences.contains(null)) {
      return;
    }
    hasEvidence = true;
    try {
      Path written = Files.createTempFile(Path.of(directory), "new-", ".txt");
      Files.writeString(written, toString());
      Files.move(written, written.resolveSibling(EVIDENCE + written.getFileName()));
    } catch (IOException e) { // such as no descriptors: the exception tells it
      throw new UncheckedIOException("%s: %s".formatted(UNEXPLAINED, this), e);
    }
  }

  /** Returns the evidence of all reads since the last call, and deletes it. */
  static List<String> takeEvidence(Path directory) throws IOException {
    List<String> all = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, EVIDENCE + "*")) {
      for (Path file : files) {
        all.add("%s: %s".formatted(UNEXPLAINED, Files.readString(file)));
        Files.delete(file);
      }
    }
    return all;
  }

  /** Adds what another read of the same operation found. */
  void add(Observation other) {
    rows += other.rows;
    for (int i = 0; i < differences.size(); i++) {
      if (differences.get(i) == null) {
        differences.set(i, other.differences.get(i));
      }
    }
    hasEvidence |= other.hasEvidence;
    other.visited.stream().forEach(this::visit);
    keepEvidence();
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
