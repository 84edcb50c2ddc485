// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructField;
import org.ddstore.formats.Python;

/** Files that AnnData wrote, and what AnnData reads from them. */
final class AnnDataFixtures {
  private AnnDataFixtures() {}

  /** Writes the files of a script in the folder of this class. */
  static void write(Path folder, String script) {
    Python.run(folder, source("functions.py") + source(script));
  }

  private static String source(String script) {
    try (InputStream source = AnnDataFixtures.class.getResourceAsStream(script)) {
      return new String(source.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static JsonNode json(Path file) {
    try {
      return new ObjectMapper().readTree(Files.readAllBytes(Path.of(file + ".json")));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static List<String> texts(JsonNode list) {
    List<String> texts = new ArrayList<>();
    list.forEach(value -> texts.add(value.isNull() ? null : value.asText()));
    return texts;
  }

  static byte[] bytes(Path file, String part) {
    try {
      return Files.readAllBytes(Path.of(file + "." + part));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Asserts that the columns of obs have the values that AnnData read. */
  static void assertObs(Dataset<Row> rows, JsonNode expected) {
    int compared = 0;
    for (StructField field : rows.schema().fields()) {
      if (!expected.has(field.name())) {
        continue;
      }
      List<String> found = new ArrayList<>();
      for (Row row : rows.select(field.name()).collectAsList()) {
        Object value = row.get(0);
        found.add(value instanceof Float number ? "" + number.doubleValue() : "" + value);
      }
      List<String> wanted = new ArrayList<>();
      boolean isFraction = List.of("score", "depth").contains(field.name());
      for (JsonNode value : expected.get(field.name())) {
        wanted.add(isFraction ? "" + value.doubleValue() : value.asText("null"));
      }
      assertThat(found).as(field.name()).isEqualTo(wanted);
      compared++;
    }
    assertThat(compared).as("columns of obs").isGreaterThanOrEqualTo(11);
  }

  /** Returns the elements of all rows of a column of arrays, little-endian. */
  static byte[] bytes(Dataset<Row> rows, String column) {
    ByteBuffer bytes = ByteBuffer.allocate(1 << 22).order(ByteOrder.LITTLE_ENDIAN);
    for (Row row : rows.select(column).collectAsList()) {
      if (row.get(0) instanceof byte[] binary) {
        bytes.put(binary);
        continue;
      }
      for (Object value : row.getList(0)) {
        put(bytes, value);
      }
    }
    byte[] filled = new byte[bytes.position()];
    bytes.flip().get(filled);
    return filled;
  }

  private static void put(ByteBuffer bytes, Object value) {
    if (value instanceof Float number) {
      bytes.putFloat(number);
    } else if (value instanceof Double number) {
      bytes.putDouble(number);
    } else if (value instanceof Integer number) {
      bytes.putInt(number);
    } else if (value instanceof Long number) {
      bytes.putLong(number);
    } else if (value instanceof Short number) {
      bytes.putShort(number);
    } else if (value instanceof Byte number) {
      bytes.put(number);
    } else {
      throw new AssertionError("an element is " + value);
    }
  }
}
