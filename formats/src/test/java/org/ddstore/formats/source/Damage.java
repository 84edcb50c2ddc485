// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.source;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.CRC32;

/** Random and structured damage of a file, or of one file in a folder. */
final class Damage {
  private static final long[] NUMBERS =
      Stream.of(
              "-1 0 1 2 7 255 256 65535 65536 16777216 2147483639 2147483647 2147483648 4294967295",
              "4294967296 1099511627776 2305843009213693952 9223372036854775807",
              "-9223372036854775808")
          .flatMap(line -> Stream.of(line.split(" ", -1)))
          .mapToLong(Long::parseLong)
          .toArray();

  private static final String[] WORDS =
      """
      null true {} [] "" "|O" "<f8" "<M8[ns]" "<U1000000" ".." "../x" "zlib" "blosc" "zstd" "lz4"
      "gzip" "sharding_indexed" "vlen-utf8" [[[[[[]]]]]] 1e999 NaN -0"""
          .split("\\s+", -1);

  private static final Pattern NUMBER = Pattern.compile("-?\\d+");
  private static final Pattern WORD = Pattern.compile("\"[^\"]*\"|\\b[a-z_]+\\b|[\\[\\]{}(),:]");

  private Damage() {}

  /** Damages a file in one to four places. */
  static void damage(Path path, Random random) throws IOException {
    Path file = path;
    if (Files.isDirectory(path)) {
      try (Stream<Path> all = Files.walk(path)) {
        List<Path> files = all.filter(Files::isRegularFile).sorted().toList();
        List<Path> metadata =
            files.stream()
                .filter(each -> each.getFileName().toString().matches("\\.z.*|zarr\\.json"))
                .toList();
        List<Path> choice = random.nextInt(4) > 0 && !metadata.isEmpty() ? metadata : files;
        file = choice.get(random.nextInt(choice.size()));
      }
      if (random.nextInt(20) == 0) {
        Files.delete(file);
        return;
      }
    }
    byte[] content = Files.readAllBytes(file);
    boolean isText = isText(content);
    for (int i = 1 + random.nextInt(4); i > 0; i--) {
      content =
          isText && random.nextInt(3) > 0 ? edited(content, random) : changed(content, random);
    }
    if (random.nextBoolean()) {
      repairPng(content);
    }
    Files.write(file, content);
  }

  private static boolean isText(byte... content) {
    return content.length > 0
        && (content[0] == '{'
            || (content.length > 6
                && new String(content, 1, 5, StandardCharsets.ISO_8859_1).equals("NUMPY")));
  }

  /** Replaces a number or a word of a text; of an array of NumPy, in its header. */
  private static byte[] edited(byte[] content, Random random) {
    int header =
        content.length > 0 && content[0] == '{' ? content.length : Math.min(content.length, 128);
    String text = new String(content, 0, header, StandardCharsets.ISO_8859_1);
    List<MatchResult> places =
        (random.nextBoolean() ? NUMBER : WORD).matcher(text).results().toList();
    if (places.isEmpty()) {
      return content;
    }
    MatchResult place = places.get(random.nextInt(places.size()));
    String word =
        random.nextBoolean()
            ? Long.toString(NUMBERS[random.nextInt(NUMBERS.length)])
            : random.nextInt(3) == 0
                ? places.get(random.nextInt(places.size())).group()
                : WORDS[random.nextInt(WORDS.length)];
    byte[] edited =
        (text.substring(0, place.start()) + word + text.substring(place.end()))
            .getBytes(StandardCharsets.ISO_8859_1);
    byte[] all = Arrays.copyOf(edited, edited.length + content.length - header);
    System.arraycopy(content, header, all, edited.length, content.length - header);
    return all;
  }

  private static byte[] changed(byte[] content, Random random) {
    if (content.length == 0) {
      return new byte[] {(byte) random.nextInt()};
    }
    // The structure of most formats is at the beginning or at the end.
    int span = random.nextInt(3) == 0 ? content.length : Math.min(content.length, 2048);
    int at = random.nextInt(span);
    if (random.nextInt(4) == 0) {
      at = content.length - 1 - at;
    }
    switch (random.nextInt(6)) {
      case 0 -> {
        return Arrays.copyOf(content, at);
      }
      case 1 -> {
        byte[] longer = Arrays.copyOf(content, content.length + 1 + random.nextInt(64));
        System.arraycopy(
            content, at, longer, at + longer.length - content.length, content.length - at);
        return longer;
      }
      case 2, 3 -> number(content, at, random);
      case 4 ->
          Arrays.fill(
              content,
              at,
              Math.min(content.length, at + 1 + random.nextInt(64)),
              (byte) (random.nextBoolean() ? 0 : 0xFF));
      default -> content[at] ^= (byte) (1 << random.nextInt(8));
    }
    return content;
  }

  private static void number(byte[] content, int at, Random random) {
    long value = NUMBERS[random.nextInt(NUMBERS.length)];
    ByteBuffer bytes =
        ByteBuffer.wrap(content)
            .order(random.nextBoolean() ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN);
    int width = 1 << random.nextInt(4);
    int aligned = at / width * width;
    if (aligned + width > content.length) {
      return;
    }
    switch (width) {
      case 1 -> bytes.put(aligned, (byte) value);
      case 2 -> bytes.putShort(aligned, (short) value);
      case 4 -> bytes.putInt(aligned, (int) value);
      default -> bytes.putLong(aligned, value);
    }
  }

  /** Corrects the checksums of the chunks of a PNG, so that damage reaches the decoder. */
  private static void repairPng(byte... content) {
    ByteBuffer bytes = ByteBuffer.wrap(content);
    if (content.length < 8 || bytes.getInt(0) != 0x89504E47) {
      return;
    }
    int at = 8;
    while (at + 12 <= content.length) {
      long length = Integer.toUnsignedLong(bytes.getInt(at));
      if (at + 12 + length > content.length) {
        return;
      }
      CRC32 sum = new CRC32();
      sum.update(content, at + 4, (int) length + 4);
      bytes.putInt(at + 8 + (int) length, (int) sum.getValue());
      at += 12 + (int) length;
    }
  }
}
