// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.display;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.ddstore.Batch;
import org.ddstore.Tensor;
import org.ddstore.types.Field;
import org.ddstore.types.Plural;

/** The fields of a batch with their shapes and first values. */
final class BatchView {
  private static final int MOST_VALUES = 6;

  private BatchView() {}

  static MimeBundle render(Batch batch) {
    int rows;
    try {
      rows = batch.rows();
    } catch (IllegalStateException e) {
      return MimeBundle.text(batch.toString()); // closed
    }
    List<List<String>> lines = new ArrayList<>();
    for (Field field : batch.schema().fields()) {
      tensor(batch, field).ifPresent(values -> lines.add(line(batch, field, values, rows)));
    }
    TextTable table =
        new TextTable(List.of(List.of("field", "type", "shape", "first values")), lines);
    String note = Plural.of(rows, "row");
    return MimeBundle.html(table.text() + "\n" + note, table.html() + "\n<p>" + note + "</p>");
  }

  /** Returns the values of a field; empty if the reader has not selected it. */
  private static Optional<Tensor> tensor(Batch batch, Field field) {
    try {
      return Optional.of(batch.field(field.name()));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  private static List<String> line(Batch batch, Field field, Tensor values, int rows) {
    String begin =
        field.kind() == Field.Kind.STRING ? strings(batch, field, rows) : numbers(values);
    return List.of(field.name(), field.typeText(), shape(field, values, rows), begin);
  }

  /** Returns the shape of the rows of a field, with {@code ?} for a length that varies. */
  private static String shape(Field field, Tensor values, int rows) {
    if (!field.isRagged()) {
      return Arrays.toString(values.shape());
    }
    String inner =
        Arrays.stream(field.shape())
            .mapToObj(length -> ", " + length)
            .collect(Collectors.joining());
    return "[%d, ?%s]".formatted(rows, inner);
  }

  private static String strings(Batch batch, Field field, int rows) {
    return joined(
        LongStream.range(0, Math.min(rows, MOST_VALUES))
            .mapToObj(row -> ValueText.inTable(batch.string(field.name(), (int) row))),
        rows);
  }

  private static String numbers(Tensor values) {
    return joined(
        LongStream.range(0, Math.min(values.elements(), MOST_VALUES))
            .mapToObj(i -> number(values, i)),
        values.elements());
  }

  private static String number(Tensor values, long index) {
    return switch (values.dtype()) {
      // A batch has them as raw bytes, too.
      case FLOAT16, BFLOAT16 -> "0x%04x".formatted(values.asByteBuffer().getShort((int) index * 2));
      case FLOAT32 -> Float.toString(values.getFloat(index));
      case FLOAT64 -> Double.toString(values.getDouble(index));
      default -> Long.toString(values.getLong(index));
    };
  }

  private static String joined(Stream<String> begin, long count) {
    return begin.collect(Collectors.joining(", ")) + (count > MOST_VALUES ? ", .." : "");
  }
}
