// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.Serializable;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.ddstore.spark.types.DecimalForm;
import org.ddstore.types.DType;

/** Options of a load as JSON, for files that outlive the application. */
public final class SavedOptions {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private SavedOptions() {}

  public static ObjectNode toJson(IngestOptions options) {
    ObjectNode json = MAPPER.createObjectNode();
    ObjectNode fields = json.putObject("fields");
    options.fields().forEach((column, field) -> put(fields.putObject(column), field));
    ObjectNode fills = json.putObject("fillNulls");
    options.fills().forEach((column, value) -> put(fills.putObject(column), value));
    ObjectNode pads = json.putObject("pad");
    options.pads().forEach((column, value) -> put(pads.putObject(column), value));
    put(json.putArray("truncate"), options.truncated());
    ObjectNode decimals = json.putObject("decimals");
    options.decimals().forEach((column, form) -> decimals.put(column, form.name()));
    options.otherDecimals().ifPresent(form -> json.put("otherDecimals", form.name()));
    put(json.putArray("columns"), options.columns());
    put(json.putArray("orderBy"), options.orderBy());
    options.shuffleSeed().ifPresent(seed -> json.put("shuffle", seed));
    return json;
  }

  private static void put(ObjectNode to, DeclaredField field) {
    to.put("ragged", field.ragged()).put("dtype", field.dtype().name());
    ArrayNode shape = to.putArray("shape");
    for (int dimension : field.shape()) {
      shape.add(dimension);
    }
  }

  private static void put(ObjectNode to, Serializable value) {
    to.put("type", value instanceof byte[] ? "byte[]" : value.getClass().getSimpleName());
    to.put(
        "value",
        value instanceof byte[] bytes
            ? Base64.getEncoder().encodeToString(bytes)
            : value.toString());
  }

  private static void put(ArrayNode to, Collection<String> names) {
    names.forEach(to::add);
  }

  /**
   * Returns the options of {@link #toJson}.
   *
   * @throws IllegalArgumentException if the JSON does not describe options
   */
  public static IngestOptions parse(JsonNode json) {
    IngestOptions options = IngestOptions.defaults();
    for (Map.Entry<String, JsonNode> field : entries(json, "fields")) {
      DType dtype = DType.valueOf(field.getValue().path("dtype").asText());
      int[] shape = stream(field.getValue(), "shape").mapToInt(JsonNode::asInt).toArray();
      options =
          field.getValue().path("ragged").asBoolean()
              ? options.raggedField(field.getKey(), dtype, shape)
              : options.field(field.getKey(), dtype, shape);
    }
    for (Map.Entry<String, JsonNode> fill : entries(json, "fillNulls")) {
      options = options.fillNulls(fill.getKey(), value(fill.getValue()));
    }
    for (Map.Entry<String, JsonNode> pad : entries(json, "pad")) {
      options = options.pad(pad.getKey(), (Number) value(pad.getValue()));
    }
    for (String column : names(json, "truncate")) {
      options = options.truncate(column);
    }
    for (Map.Entry<String, JsonNode> column : entries(json, "decimals")) {
      options = options.decimals(DecimalForm.valueOf(column.getValue().asText()), column.getKey());
    }
    if (json.has("otherDecimals")) {
      options = options.decimals(DecimalForm.valueOf(json.path("otherDecimals").asText()));
    }
    options = options.columns(names(json, "columns")).orderBy(names(json, "orderBy"));
    return json.has("shuffle") ? options.shuffle(json.path("shuffle").asLong()) : options;
  }

  private static List<Map.Entry<String, JsonNode>> entries(JsonNode json, String key) {
    List<Map.Entry<String, JsonNode>> entries = new ArrayList<>();
    JsonNode object = json.path(key);
    object.fieldNames().forEachRemaining(name -> entries.add(Map.entry(name, object.get(name))));
    return entries;
  }

  private static Stream<JsonNode> stream(JsonNode json, String key) {
    return StreamSupport.stream(json.path(key).spliterator(), false);
  }

  private static String[] names(JsonNode json, String key) {
    return stream(json, key).map(JsonNode::asText).toArray(String[]::new);
  }

  private static Serializable value(JsonNode json) {
    String text = json.path("value").asText();
    String type = json.path("type").asText();
    return switch (type) {
      case "byte[]" -> Base64.getDecoder().decode(text);
      case "String" -> text;
      case "Boolean" -> Boolean.valueOf(text);
      case "Byte" -> Byte.valueOf(text);
      case "Short" -> Short.valueOf(text);
      case "Integer" -> Integer.valueOf(text);
      case "Long" -> Long.valueOf(text);
      case "Float" -> Float.valueOf(text);
      case "Double" -> Double.valueOf(text);
      case "BigInteger" -> new BigInteger(text);
      default -> new BigDecimal(text); // other numbers
    };
  }
}
