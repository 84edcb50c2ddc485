// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.InputFile;
import org.ddstore.formats.ReadBudget;

/**
 * The metadata files of a group or an array. Consolidated metadata are not read: they are a copy,
 * which writers can leave behind the data.
 */
record NodeFiles(InputFile folder) {
  static final String ARRAY_V2 = ".zarray";
  static final String GROUP_V2 = ".zgroup";
  static final String ATTRIBUTES_V2 = ".zattrs";
  static final String NODE_V3 = "zarr.json";

  /** Memory of parsed JSON per byte, which lists of empty objects need. */
  private static final long PARSED_RATIO = 40;

  /** Python writes NaN and Infinity into attributes. */
  private static final ObjectMapper JSON =
      JsonMapper.builder().enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS).build();

  /** The kind of a node. */
  enum Kind {
    ARRAY_V2,
    ARRAY_V3,
    GROUP_V2,
    GROUP_V3,
    /** A folder that is not a node. */
    NONE;

    boolean isArray() {
      return this == ARRAY_V2 || this == ARRAY_V3;
    }
  }

  Kind kind() throws IOException {
    Optional<String> node = text(NODE_V3);
    if (node.isPresent()) {
      String type = parse(NODE_V3, node.get()).path("node_type").asText();
      return switch (type) {
        case "array" -> Kind.ARRAY_V3;
        case "group" -> Kind.GROUP_V3;
        default ->
            throw FormatException.of(
                path(NODE_V3), "node_type", "\"%s\" is neither array nor group".formatted(type));
      };
    }
    if (folder.has(ARRAY_V2)) {
      return Kind.ARRAY_V2;
    }
    return folder.has(GROUP_V2) ? Kind.GROUP_V2 : Kind.NONE;
  }

  static String arrayFile(Kind kind) {
    return kind == Kind.ARRAY_V3 ? NODE_V3 : ARRAY_V2;
  }

  /** Returns the content of a metadata file; empty if there is none. */
  Optional<String> text(String name) throws IOException {
    Optional<InputFile> found = folder.find(name);
    if (found.isEmpty()) {
      return Optional.empty();
    }
    InputFile file = found.get();
    ReadBudget.requireHeld(file.path(), "metadata", PARSED_RATIO * file.length());
    return Optional.of(new String(file.readAll().array(), StandardCharsets.UTF_8));
  }

  /** Parses the content of a metadata file, which must be a JSON object. */
  JsonNode parse(String name, String text) {
    try {
      JsonNode json = JSON.readTree(text);
      if (json.isObject()) {
        return json;
      }
      throw new FormatException(path(name), "not a JSON object, but " + json.getNodeType());
    } catch (JsonProcessingException e) {
      throw new FormatException(
          path(name),
          "truncated or damaged: not JSON (line %d): %s"
              .formatted(
                  e.getLocation() == null ? 1 : e.getLocation().getLineNr(),
                  e.getOriginalMessage()),
          e);
    }
  }

  /** Returns the attributes of a node; an empty object if there are none. */
  JsonNode attributes(Kind kind) throws IOException {
    boolean isV3 = kind == Kind.ARRAY_V3 || kind == Kind.GROUP_V3;
    String name = isV3 ? NODE_V3 : ATTRIBUTES_V2;
    Optional<String> text = text(name);
    JsonNode json =
        text.isPresent() ? parse(name, text.get()) : JsonNodeFactory.instance.objectNode();
    return isV3 && text.isPresent() ? json.path("attributes") : json;
  }

  String path(String name) {
    return folder.path() + "/" + name;
  }
}
