// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.ddstore.formats.ReadBudget;

/** The metadata of version 2, in {@code .zarray}; codecs have the names of numcodecs. */
final class MetadataV2 {
  private final JsonNode json;
  private final ZarrType type;

  private MetadataV2(JsonNode json) throws Unsupported {
    this.json = json;
    this.type = ZarrType.v2(json.path("dtype"));
  }

  static ArrayMetadata parse(JsonNode json) throws Unsupported {
    if (json.path("zarr_format").asInt() != 2) {
      throw new Unsupported("zarr_format", "%s instead of 2".formatted(json.path("zarr_format")));
    }
    return new MetadataV2(json).parse();
  }

  private ArrayMetadata parse() throws Unsupported {
    String separator = json.path("dimension_separator").asText(".");
    if (!separator.equals(".") && !separator.equals("/")) {
      throw new Unsupported(
          "dimension_separator", "\"%s\" is neither \".\" nor \"/\"".formatted(separator));
    }
    ChunkGrid grid =
        ChunkGrid.of(
            ArrayMetadata.integers(json.path("shape"), "shape"),
            ArrayMetadata.integers(json.path("chunks"), "chunks"),
            "",
            separator);
    List<Integer> axes = new ArrayList<>(IntStream.range(0, grid.dimensions()).boxed().toList());
    String order = json.path("order").asText("C");
    if (order.equals("F")) {
      Collections.reverse(axes);
    } else if (!order.equals("C")) {
      throw new Unsupported("order", "\"%s\" is neither \"C\" nor \"F\"".formatted(order));
    }
    List<CodecChain.Step> steps = new ArrayList<>();
    compressor(json.path("compressor")).ifPresent(steps::add);
    addFilters(steps);
    return ArrayMetadata.of(
        grid,
        grid.chunk(),
        null,
        new CodecChain(type, steps, axes),
        FillValue.parse(json.path("fill_value"), type, 2));
  }

  private static Optional<CodecChain.Step> compressor(JsonNode compressor) throws Unsupported {
    if (compressor.isNull() || compressor.isMissingNode()) {
      return Optional.empty();
    }
    return Optional.of(numcodec(compressor.path("id").asText(), "compressor"));
  }

  /** Returns a compressor by its name in numcodecs, which a field of the metadata has. */
  static CodecChain.Step numcodec(String name, String field) throws Unsupported {
    int deflate = ReadBudget.DEFLATE_RATIO;
    return switch (name) {
      case "zlib" -> CodecChain.Step.compressor(name, deflate, Compression::zlib);
      case "gzip" -> CodecChain.Step.compressor(name, deflate, Compression::gzip);
      case "bz2" -> CodecChain.Step.compressor(name, Compression.BZ2_RATIO, Compression::bz2);
      case "lz4" -> CodecChain.Step.compressor(name, ReadBudget.LZ4_RATIO, Compression::lz4);
      case "zstd" -> CodecChain.Step.compressor(name, Compression.ZSTD_RATIO, Compression::zstd);
      case "blosc" -> CodecChain.Step.compressor(name, Compression.ZSTD_RATIO, BloscCodec::decode);
      default ->
          throw new Unsupported(
              field,
              "\"%s\" is not supported: supported are blosc, zstd, lz4, zlib, gzip and bz2"
                  .formatted(name));
    };
  }

  /** Adds the filters, which writers apply in the order of the list. */
  private void addFilters(List<CodecChain.Step> steps) throws Unsupported {
    JsonNode filters = json.path("filters");
    if (!filters.isArray() && !filters.isNull() && !filters.isMissingNode()) {
      throw new Unsupported("filters", "%s is not a list".formatted(filters));
    }
    ArrayMetadata.requireFew(filters, "filters");
    boolean isText = false;
    for (int i = filters.size() - 1; i >= 0; i--) {
      JsonNode filter = filters.get(i);
      String name = filter.path("id").asText();
      if (name.equals("vlen-utf8") && type.form() == ZarrType.Form.TEXT && i == 0) {
        isText = true; // the layout of the chunk, not a codec from bytes to bytes
      } else if (name.equals("delta") && type.form() == ZarrType.Form.NUMBER) {
        steps.add(CodecChain.Step.fixed(name, 0, delta(filter)));
      } else {
        throw new Unsupported(
            "filters",
            "\"%s\" is not supported for the data type %s: supported are delta for numbers and vlen-utf8 for objects"
                .formatted(name, json.path("dtype")));
      }
    }
    if (type.form() == ZarrType.Form.TEXT && !isText) {
      throw new Unsupported(
          "filters", "objects are supported as texts only, with the filter vlen-utf8");
    }
  }

  private DeltaFilter delta(JsonNode filter) throws Unsupported {
    JsonNode dtype = filter.path("dtype");
    JsonNode stored = filter.path("astype");
    ZarrType declared = ZarrType.v2(dtype);
    boolean isSame =
        declared.element() == type.element() && declared.bigEndian() == type.bigEndian();
    boolean isSupported =
        switch (type.element()) {
          case BOOL, FLOAT16, TEXT -> false;
          default -> true;
        };
    if (!isSame || !isSupported || !(stored.isMissingNode() || stored.equals(dtype))) {
      throw new Unsupported(
          "filters",
          "delta of %s stored as %s is not supported for the data type %s"
              .formatted(dtype, stored, json.path("dtype")));
    }
    return new DeltaFilter(type);
  }
}
