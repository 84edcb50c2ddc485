// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.math.BigDecimal;
import java.math.BigInteger;
import org.ddstore.spark.types.DecimalForm;
import org.ddstore.types.DType;
import org.junit.jupiter.api.Test;

/** Options that have been written as JSON and read again are equal to the first. */
class SavedOptionsTest {
  private static IngestOptions again(IngestOptions options) throws Exception {
    String text = SavedOptions.toJson(options).toString();
    return SavedOptions.parse(new ObjectMapper().readTree(text));
  }

  @Test
  void keepsEveryOption() throws Exception {
    IngestOptions options =
        IngestOptions.defaults()
            .columns("b", "a.x", "c")
            .field("b", DType.BFLOAT16, 2, 3)
            .raggedField("c", DType.FLOAT64, 4)
            .pad("b", 0.1f)
            .truncate("b")
            .decimals(DecimalForm.FLOAT64)
            .decimals(DecimalForm.INT64, "price", "a.tax")
            .orderBy("id", "other id");
    IngestOptions again = again(options);
    assertThat(again).hasToString(options.toString());
    assertThat(again.columns()).containsExactly("b", "a.x", "c");
    assertThat(again.orderBy()).containsExactly("id", "other id");
    assertThat(again.pads()).containsEntry("b", 0.1f);
    assertThat(again.truncated()).containsExactly("b");
    assertThat(again.decimalForm("price")).isEqualTo(DecimalForm.INT64);
    assertThat(again.decimalForm("a.tax")).isEqualTo(DecimalForm.INT64);
    assertThat(again.decimalForm("b")).isEqualTo(DecimalForm.FLOAT64);
    assertThat(again.fields().get("b").field("b")).isEqualTo(options.fields().get("b").field("b"));
    assertThat(again.fields().get("c").field("c")).isEqualTo(options.fields().get("c").field("c"));
    assertThat(again.shuffleSeed()).isEmpty();
  }

  @Test
  void keepsTypeAndValueOfEveryFill() throws Exception {
    IngestOptions options =
        IngestOptions.defaults()
            .shuffle(Long.MIN_VALUE)
            .fillNulls("byte", (byte) -3)
            .fillNulls("short", (short) 300)
            .fillNulls("int", 70_000)
            .fillNulls("long", Long.MAX_VALUE)
            .fillNulls("float", 0.1f)
            .fillNulls("double", Double.NaN)
            .fillNulls("big", BigInteger.TEN.pow(30))
            .fillNulls("decimal", new BigDecimal("1.50"))
            .fillNulls("flag", true)
            .fillNulls("text", "a \"b\"\n")
            .fillNulls("bytes", new byte[] {0, -1});
    IngestOptions again = again(options);
    assertThat(again.shuffleSeed()).hasValue(Long.MIN_VALUE);
    assertThat(again.fills().keySet()).containsExactlyElementsOf(options.fills().keySet());
    options
        .fills()
        .forEach((column, value) -> assertThat(again.fills().get(column)).isEqualTo(value));
  }

  @Test
  void refusesUnknownTypes() throws Exception {
    String text =
        SavedOptions.toJson(IngestOptions.defaults().field("x", DType.INT8))
            .toString()
            .replace("INT8", "INT7");
    assertThatThrownBy(() -> SavedOptions.parse(new ObjectMapper().readTree(text)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("INT7");
  }
}
