// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.report;

import java.io.IOException;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Memory of segments that were deleted, and that a process still maps or has open: it is free when
 * the process closes its readers, reads once more, or ends.
 *
 * @param pid id of the process, as this process sees it
 * @param program its name
 * @param bytes size of the files
 * @param files size of each file in bytes, by directory and name, which are unique on a host
 */
public record KeptMemory(long pid, String program, long bytes, Map<String, Long> files)
    implements Serializable {
  private static final String DELETED =
      ".*/(ddstore-\\d+-[0-9a-f]{16}-[^/]*/(?!collective-)[^/]*) \\(deleted\\)";

  /** A line of {@code /proc/PID/maps}, proc(5): range, permissions, offset, and the file. */
  private static final Pattern MAPPED =
      Pattern.compile("([0-9a-f]+)-([0-9a-f]+) \\S+ ([0-9a-f]+) " + DELETED);

  /** The target of a link in {@code /proc/PID/fd}. */
  private static final Pattern OPEN = Pattern.compile(DELETED);

  /** Returns what the visible processes keep, the largest first; without those of other users. */
  static List<KeptMemory> here() {
    List<KeptMemory> kept = new ArrayList<>();
    try (DirectoryStream<Path> processes = Files.newDirectoryStream(Path.of("/proc"), "[1-9]*")) {
      processes.forEach(process -> of(process).ifPresent(kept::add));
    } catch (IOException e) {
      return List.of(); // no proc here: another system
    }
    kept.sort(Comparator.comparingLong(KeptMemory::bytes).reversed());
    return List.copyOf(kept);
  }

  private static Optional<KeptMemory> of(Path process) {
    Map<String, Long> files = new TreeMap<>();
    try {
      addMapped(process.resolve("maps"), files);
      addOpen(process.resolve("fd"), files);
      long bytes = files.values().stream().mapToLong(Long::longValue).sum();
      if (bytes == 0) {
        return Optional.empty();
      }
      String program =
          Files.readString(process.resolve("comm"), StandardCharsets.ISO_8859_1).strip();
      long pid = Long.parseLong(process.getFileName().toString());
      return Optional.of(new KeptMemory(pid, program, bytes, Map.copyOf(files)));
    } catch (IOException e) {
      return Optional.empty(); // ended meanwhile, or of another user
    }
  }

  /** Adds each file once, up to the end of its last mapped part. */
  private static void addMapped(Path maps, Map<String, Long> files) throws IOException {
    // A path can have bytes that are no UTF-8.
    for (String line : Files.readAllLines(maps, StandardCharsets.ISO_8859_1)) {
      Matcher matcher = MAPPED.matcher(line);
      if (matcher.matches()) {
        long bytes = number(matcher, 3) + number(matcher, 2) - number(matcher, 1);
        files.merge(matcher.group(4), bytes, Math::max);
      }
    }
  }

  private static long number(Matcher matcher, int group) {
    return Long.parseUnsignedLong(matcher.group(group), 16);
  }

  private static void addOpen(Path descriptors, Map<String, Long> files) throws IOException {
    try (DirectoryStream<Path> links = Files.newDirectoryStream(descriptors)) {
      for (Path link : links) {
        try {
          Matcher matcher = OPEN.matcher(Files.readSymbolicLink(link).toString());
          if (matcher.matches()) {
            files.merge(matcher.group(1), Files.size(link), Math::max);
          }
        } catch (IOException e) {
          // Closed meanwhile.
        }
      }
    }
  }
}
