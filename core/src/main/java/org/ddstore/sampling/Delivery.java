// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.zip.CRC32;

/**
 * The part of a configuration that determines what is delivered of each sample, as far as it
 * differs from all fields unconverted: 24 bits for each kind of choice, so that a small state can
 * name the kind that differs. Immutable.
 *
 * @param fields fields that are read; plain if all
 * @param casts types that fields are cast to; plain if none is cast
 * @param shapes fields that are padded or made dense; plain if none
 */
public record Delivery(Choice fields, Choice casts, Choice shapes) {
  /** Delivery of all fields unconverted. */
  public static final Delivery PLAIN = of(List.of(), List.of(), List.of());

  private static final int DIGITS = 4;
  private static final String FIELDS = "f";
  private static final String CASTS = "c";
  private static final String SHAPES = "s";

  /**
   * Digests choices.
   *
   * @param fields names of the fields that are read, in any order; empty for all
   * @param casts text for each cast, in any order
   * @param shapes text for each padding or densification, in any order
   * @return the digests
   */
  public static Delivery of(List<String> fields, List<String> casts, List<String> shapes) {
    Objects.requireNonNull(fields, "fields is null");
    for (Object element : fields) {
      Objects.requireNonNull(element, "an element of fields is null");
    }
    Objects.requireNonNull(casts, "casts is null");
    for (Object element : casts) {
      Objects.requireNonNull(element, "an element of casts is null");
    }
    Objects.requireNonNull(shapes, "shapes is null");
    for (Object element : shapes) {
      Objects.requireNonNull(element, "an element of shapes is null");
    }
    return new Delivery(Choice.of(fields), Choice.of(casts), Choice.of(shapes));
  }

  /**
   * One kind of choice. Two are equal if their digests are.
   *
   * @param digest empty if plain
   * @param words human-readable choices; empty if unknown, as in a parsed state
   */
  public record Choice(String digest, String words) {
    static Choice of(List<String> choices) {
      return new Choice(Delivery.digest(choices), choices.stream().sorted().toList().toString());
    }

    /** {@return whether nothing was chosen} */
    public boolean isPlain() {
      return digest.isEmpty();
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Choice choice && choice.digest.equals(digest);
    }

    @Override
    public int hashCode() {
      return digest.hashCode();
    }

    @Override
    public String toString() {
      return words.isEmpty() ? digest : "%s (%s)".formatted(words, digest);
    }
  }

  private static String digest(List<String> choices) {
    if (choices.isEmpty()) {
      return "";
    }
    CRC32 crc = new CRC32();
    String all = choices.stream().sorted().collect(Collectors.joining("\0"));
    crc.update(all.getBytes(StandardCharsets.UTF_8));
    long bits = crc.getValue();
    byte[] low = {(byte) (bits >> 16), (byte) (bits >> 8), (byte) bits};
    return Base64.getUrlEncoder().encodeToString(low);
  }

  /**
   * Rejects a missing choice.
   *
   * @param fields fields that are read; plain if all
   * @param casts types that fields are cast to; plain if none is cast
   * @param shapes fields that are padded or made dense; plain if none
   */
  public Delivery {
    Objects.requireNonNull(fields, "fields is null");
    Objects.requireNonNull(casts, "casts is null");
    Objects.requireNonNull(shapes, "shapes is null");
  }

  /** Returns the digests of all choices, each preceded by its letter; empty if plain. */
  String toText() {
    return (fields.isPlain() ? "" : FIELDS + fields.digest())
        + (casts.isPlain() ? "" : CASTS + casts.digest())
        + (shapes.isPlain() ? "" : SHAPES + shapes.digest());
  }

  /** Parses {@link #toText()}; throws {@link IllegalArgumentException} if it is invalid. */
  static Delivery parse(String text) {
    String[] parts = {"", "", ""};
    int at = 0;
    for (String letter : List.of(FIELDS, CASTS, SHAPES)) {
      if (text.startsWith(letter, at) && text.length() > at + DIGITS) {
        parts[Arrays.asList(FIELDS, CASTS, SHAPES).indexOf(letter)] =
            text.substring(at + 1, at + 1 + DIGITS);
        at += 1 + DIGITS;
      }
    }
    if (at < text.length()) {
      throw new IllegalArgumentException("\"%s\" is not a valid delivery".formatted(text));
    }
    return new Delivery(
        new Choice(parts[0], ""), new Choice(parts[1], ""), new Choice(parts[2], ""));
  }
}
