// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import java.util.Comparator;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The name of a checkpoint in its directory, and the paths of its files:
 *
 * <pre>
 * checkpoint-000002-1f3a9c04-0000000007               manifest, published last
 * data-000002-1f3a9c04/0000000007/r00001-model-000000 chunk 0 of the stream "model" of rank 1
 *      |                |
 *      writer           number
 * </pre>
 *
 * @param writer generation and random digits of the group of ranks that saved it; a group that
 *     begins to save later has a greater one
 * @param number number of the checkpoint, from 1
 */
record CheckpointName(String writer, long number) implements Comparable<CheckpointName> {
  /** Name of the folder of a writer, before the writer. */
  static final String DATA = "data-";

  private static final Pattern MANIFEST =
      Pattern.compile("checkpoint-(\\d{6}-[0-9a-f]{8})-(\\d{10})");
  private static final Pattern FOLDER = Pattern.compile(DATA + "(\\d{6}-[0-9a-f]{8})");
  private static final Pattern TEMPORARY = Pattern.compile("\\.(.*)\\.tmp");

  /** Returns the name of a checkpoint by the name of its manifest; empty for another file. */
  static Optional<CheckpointName> ofManifest(String file) {
    Matcher parts = MANIFEST.matcher(file);
    return parts.matches()
        ? Optional.of(new CheckpointName(parts.group(1), Long.parseLong(parts.group(2))))
        : Optional.empty();
  }

  static Optional<CheckpointName> ofTemporary(String file) {
    Matcher parts = TEMPORARY.matcher(file);
    return parts.matches() ? ofManifest(parts.group(1)) : Optional.empty();
  }

  /** Returns the writer whose folder has this name; empty for another folder. */
  static Optional<String> writerOf(String folder) {
    Matcher parts = FOLDER.matcher(folder);
    return parts.matches() ? Optional.of(parts.group(1)) : Optional.empty();
  }

  static String newWriter(int generation, int random) {
    return "%06d-%08x".formatted(generation, random);
  }

  static int generation(String writer) {
    return Integer.parseInt(writer.substring(0, writer.indexOf('-')));
  }

  String manifest() {
    return "checkpoint-%s-%010d".formatted(writer, number);
  }

  String folder() {
    return folderOfWriter() + "/" + digits();
  }

  String folderOfWriter() {
    return DATA + writer;
  }

  /** Returns the number as it appears in paths. */
  String digits() {
    return "%010d".formatted(number);
  }

  static String chunk(int rank, String stream, int index) {
    return "r%05d-%s-%06d".formatted(rank, stream, index);
  }

  @Override
  public int compareTo(CheckpointName other) {
    return Comparator.comparing(CheckpointName::writer)
        .thenComparingLong(CheckpointName::number)
        .compare(this, other);
  }
}
