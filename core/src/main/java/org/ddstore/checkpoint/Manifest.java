// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import org.ddstore.sampling.EpochState;

/**
 * The content of a checkpoint. As text in a file:
 *
 * <pre>
 * ddstore-checkpoint 1 0000000412          version of this format, bytes of the file
 * created 2026-11-23T11:40:12Z
 * ranks 2
 * state 0 {"v":2,"e":3, .. }               rank, position in the epoch
 * stream 0 model                           rank that wrote it, name
 * chunk 4194304 0a1b2c3d                   bytes, CRC-32C; one line per chunk of the stream
 * chunk 1200 99aabbcc
 * state 1 {"v":2,"e":3, .. }
 * end 1f3a9c04                             CRC-32C of all lines above
 * </pre>
 *
 * @param created time of the publication
 * @param states position of each rank, by rank
 * @param streams streams by name
 */
record Manifest(Instant created, List<EpochState> states, Map<String, StoredStream> streams) {
  private static final String MAGIC = "ddstore-checkpoint ";
  private static final int VERSION = 1;
  private static final int HEADER_BYTES = MAGIC.length() + 13; // "1 0123456789\n"
  private static final int END_BYTES = 13; // "end 01234567\n"

  /** A chunk of a stream: its bytes and their CRC-32C. */
  record Chunk(int bytes, int crc) {}

  /** A stream of bytes that a rank wrote; the name is unique in the checkpoint. */
  record StoredStream(int rank, String name, List<Chunk> chunks) {
    long length() {
      return chunks.stream().mapToLong(Chunk::bytes).sum();
    }

    String file(int chunk) {
      return CheckpointName.chunk(rank, name, chunk);
    }
  }

  /** Thrown for a manifest whose writer ended before it was complete. */
  static final class IncompleteException extends Exception {
    private static final long serialVersionUID = 1L;
  }

  /** Returns the lines of one rank. */
  static String part(int rank, EpochState state, Map<String, List<Chunk>> streams) {
    StringBuilder lines = new StringBuilder();
    lines.append("state %d %s\n".formatted(rank, state.toJson()));
    streams.forEach(
        (name, chunks) -> {
          lines.append("stream %d %s\n".formatted(rank, name));
          chunks.forEach(c -> lines.append("chunk %d %08x\n".formatted(c.bytes(), c.crc())));
        });
    return lines.toString();
  }

  /** Returns the bytes of a file with the lines of all ranks, by rank. */
  static byte[] toBytes(Instant created, List<String> parts) {
    String lines = "created %s\nranks %d\n%s".formatted(created, parts.size(), join(parts));
    int total = HEADER_BYTES + lines.getBytes(UTF_8).length + END_BYTES;
    String text = "%s%d %010d\n%s".formatted(MAGIC, VERSION, total, lines);
    return (text + "end %08x\n".formatted(crc(text.getBytes(UTF_8)))).getBytes(UTF_8);
  }

  private static String join(List<String> parts) {
    return String.join("", parts);
  }

  private static int crc(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    return (int) crc.getValue();
  }

  /**
   * @throws IncompleteException if only a prefix of a manifest is there
   * @throws IllegalArgumentException if it is not a manifest, or not as it was written
   */
  static Manifest parse(byte[] bytes) throws IncompleteException {
    String text = new String(bytes, ISO_8859_1); // a character for each byte, also of damaged text
    if (!text.startsWith(MAGIC)) {
      if (MAGIC.startsWith(text)) {
        throw new IncompleteException();
      }
      throw new IllegalArgumentException("it does not begin with \"%s\"".formatted(MAGIC.strip()));
    }
    if (bytes.length < HEADER_BYTES) {
      throw new IncompleteException();
    }
    checkComplete(text.substring(MAGIC.length(), HEADER_BYTES - 1), bytes);
    byte[] content = Arrays.copyOf(bytes, bytes.length - END_BYTES);
    if (!text.endsWith("end %08x\n".formatted(crc(content)))) {
      throw new IllegalArgumentException("its checksum does not match its content");
    }
    return parseLines(new String(content, UTF_8).lines().skip(1).toList());
  }

  private static void checkComplete(String header, byte[] bytes) throws IncompleteException {
    String[] words = header.split(" ", -1);
    if (words.length != 2 || !words[1].matches("\\d{10}")) {
      throw new IllegalArgumentException("its first line is \"%s%s\"".formatted(MAGIC, header));
    }
    if (!words[0].equals(String.valueOf(VERSION))) {
      throw new IllegalArgumentException(
          "it has version %s, this release reads version %d".formatted(words[0], VERSION));
    }
    long total = Long.parseLong(words[1]);
    if (bytes.length < total) {
      throw new IncompleteException();
    }
    if (bytes.length > total || total < HEADER_BYTES + END_BYTES) {
      throw new IllegalArgumentException(
          "it has %,d bytes, its first line says %,d".formatted(bytes.length, total));
    }
  }

  /** Parses lines whose checksum is right. */
  private static Manifest parseLines(List<String> lines) {
    Instant created = null;
    int ranks = 0;
    List<EpochState> states = new ArrayList<>();
    Map<String, StoredStream> streams = new LinkedHashMap<>();
    List<Chunk> chunks = null;
    try {
      for (String line : lines) {
        String[] words = line.split(" ", 3);
        switch (words[0]) {
          case "created" -> created = Instant.parse(words[1]);
          case "ranks" -> ranks = Integer.parseInt(words[1]);
          case "state" -> states.add(EpochState.parse(words[2]));
          case "stream" -> {
            CheckpointWriter.checkName(words[2]);
            chunks = new ArrayList<>();
            streams.put(words[2], new StoredStream(number(words[1]), words[2], chunks));
          }
          case "chunk" -> {
            if (chunks == null) {
              throw new IllegalArgumentException("a chunk comes before the first stream");
            }
            int bytes = number(words[1]);
            if (bytes > CheckpointOptions.MOST_CHUNK) {
              throw new IllegalArgumentException("a chunk has %,d bytes".formatted(bytes));
            }
            chunks.add(new Chunk(bytes, Integer.parseUnsignedInt(words[2], 16)));
          }
          default -> throw new IllegalArgumentException("unknown line \"%s\"".formatted(line));
        }
      }
    } catch (NumberFormatException | DateTimeException | ArrayIndexOutOfBoundsException e) {
      throw new IllegalArgumentException("a line cannot be parsed: " + e, e);
    }
    if (created == null) {
      throw new IllegalArgumentException("it has no time of creation");
    }
    if (states.size() != ranks || ranks == 0) {
      throw new IllegalArgumentException(
          "it has the states of %d ranks, expected %d".formatted(states.size(), ranks));
    }
    return new Manifest(created, List.copyOf(states), Map.copyOf(streams));
  }

  private static int number(String word) {
    int number = Integer.parseInt(word);
    if (number < 0) {
      throw new NumberFormatException("%d is negative".formatted(number));
    }
    return number;
  }
}
