// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * The classes of this rank's rows while the ranks agree on their numbers. Values are numbers of
 * type Long, or texts.
 *
 * @param <V> type of the values
 */
final class ClassColumn<V extends Comparable<V>> {
  private static final int MAX_CLASSES = 1 << 16;

  private final Map<V, Integer> seen = new HashMap<>();
  private final int[] labels; // by order of appearance, until the ranks have agreed
  private final String call;
  private int rows;

  /**
   * @param rows number of rows of this rank
   * @param call description of the call
   */
  ClassColumn(int rows, String call) {
    this.labels = new int[rows];
    this.call = call;
  }

  void add(V value) {
    Integer label = seen.get(value);
    if (label == null) {
      label = seen.size();
      if (label == MAX_CLASSES) {
        throw new IllegalArgumentException(
            "%s: more than %,d different values: give a column of fewer classes"
                .formatted(call, MAX_CLASSES));
      }
      seen.put(value, label);
    }
    labels[rows++] = label;
  }

  byte[] toBytes() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      for (V value : seen.keySet()) {
        byte[] text = value.toString().getBytes(StandardCharsets.UTF_8);
        out.writeInt(text.length);
        out.write(text);
      }
    } catch (IOException e) {
      throw new AssertionError("memory is always writable", e);
    }
    return bytes.toByteArray();
  }

  /** Numbers the values in the bytes of all ranks in ascending order, and returns them. */
  List<V> agree(byte[][] ranks, Function<String, V> parser) {
    TreeSet<V> all = new TreeSet<>(Comparator.naturalOrder());
    for (byte[] rank : ranks) {
      try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(rank))) {
        while (in.available() > 0) {
          all.add(parser.apply(new String(in.readNBytes(in.readInt()), StandardCharsets.UTF_8)));
        }
      } catch (IOException e) {
        throw new AssertionError("memory is always readable", e);
      }
    }
    if (all.size() > MAX_CLASSES) {
      throw new IllegalArgumentException(
          "%s: %,d different values, at most %,d: give a column of fewer classes"
              .formatted(call, all.size(), MAX_CLASSES));
    }
    List<V> values = new ArrayList<>(all);
    int[] agreed = new int[seen.size()];
    for (int label = 0; label < values.size(); label++) {
      Integer own = seen.get(values.get(label));
      if (own != null) {
        agreed[own] = label;
      }
    }
    for (int row = 0; row < labels.length; row++) {
      labels[row] = agreed[labels[row]];
    }
    return values;
  }

  int label(int row) {
    return labels[row];
  }
}
