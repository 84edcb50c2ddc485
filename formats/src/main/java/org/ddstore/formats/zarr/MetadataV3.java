// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/** The metadata of version 3, in {@code zarr.json}. */
final class MetadataV3 {
  private static final Set<String> KEYS =
      Set.of(
          "zarr_format",
          "node_type",
          "shape",
          "data_type",
          "chunk_grid",
          "chunk_key_encoding",
          "fill_value",
          "codecs",
          "attributes",
          "storage_transformers",
          "dimension_names");
  private static final String NUMCODECS = "numcodecs.";

  private final JsonNode json;
  private final ZarrType type;

  private MetadataV3(JsonNode json) throws Unsupported {
    this.json = json;
    this.type = ZarrType.v3(json.path("data_type"));
  }

  static ArrayMetadata parse(JsonNode json) throws Unsupported {
    requireKnown(json, KEYS);
    if (json.path("zarr_format").asInt() != 3) {
      throw new Unsupported("zarr_format", "%s instead of 3".formatted(json.path("zarr_format")));
    }
    if (json.path("storage_transformers").size() > 0) {
      throw new Unsupported(
          "storage_transformers",
          "%s are not supported".formatted(json.path("storage_transformers")));
    }
    return new MetadataV3(json).parse();
  }

  /** Refuses keys that are not of the specification, and that a reader must understand. */
  static void requireKnown(JsonNode json, Set<String> known) throws Unsupported {
    for (Map.Entry<String, JsonNode> entry : json.properties()) {
      boolean isOptional = !entry.getValue().path("must_understand").asBoolean(true);
      if (!known.contains(entry.getKey()) && !isOptional) {
        throw new Unsupported(entry.getKey(), "the extension is not supported");
      }
    }
  }

  private ArrayMetadata parse() throws Unsupported {
    JsonNode grid = json.path("chunk_grid");
    if (!grid.path("name").asText().equals("regular")) {
      throw new Unsupported("chunk_grid", "%s is not supported, only \"regular\"".formatted(grid));
    }
    long[] shape = ArrayMetadata.integers(json.path("shape"), "shape");
    long[] chunk =
        ArrayMetadata.integers(grid.path("configuration").path("chunk_shape"), "chunk_grid");
    ChunkGrid files = keys(shape, chunk);
    JsonNode codecs = json.path("codecs");
    boolean isSharded = name(codecs.path(0)).equals("sharding_indexed");
    if (isSharded) {
      return sharded(files, codecs);
    }
    CodecChain chain = chain(codecs, files.dimensions());
    return ArrayMetadata.of(files, files.chunk(), null, chain, fill(chain));
  }

  private ChunkGrid keys(long[] shape, long... chunk) throws Unsupported {
    JsonNode encoding = json.path("chunk_key_encoding");
    String name = name(encoding);
    boolean isDefault = name.equals("default");
    if (!isDefault && !name.equals("v2")) {
      throw new Unsupported(
          "chunk_key_encoding",
          "%s is not supported, only \"default\" and \"v2\"".formatted(encoding));
    }
    String separator =
        encoding.path("configuration").path("separator").asText(isDefault ? "/" : ".");
    if (!separator.equals(".") && !separator.equals("/")) {
      throw new Unsupported(
          "chunk_key_encoding", "separator \"%s\" is neither \".\" nor \"/\"".formatted(separator));
    }
    return ChunkGrid.of(shape, chunk, isDefault ? "c" : "", separator);
  }

  /** Returns the name of a codec or an extension, which can be written without configuration. */
  private static String name(JsonNode extension) {
    return extension.isTextual() ? extension.textValue() : extension.path("name").asText();
  }

  private Object fill(CodecChain chain) throws Unsupported {
    return FillValue.parse(json.path("fill_value"), chain.type(), 3);
  }

  private ArrayMetadata sharded(ChunkGrid shards, JsonNode codecs) throws Unsupported {
    if (codecs.size() > 1) {
      throw new Unsupported(
          "codecs",
          "\"%s\" after sharding_indexed is not supported".formatted(name(codecs.path(1))));
    }
    JsonNode sharding = codecs.path(0).path("configuration");
    long[] inner = ArrayMetadata.integers(sharding.path("chunk_shape"), "sharding_indexed");
    boolean divides = inner.length == shards.dimensions();
    for (int d = 0; divides && d < inner.length; d++) {
      divides = inner[d] >= 1 && shards.chunk()[d] % inner[d] == 0;
    }
    if (!divides) {
      throw new Unsupported(
          "sharding_indexed",
          "chunks of %s do not divide the shard".formatted(sharding.path("chunk_shape")));
    }
    long chunks = 1; // below 2^63, as the elements of a shard
    for (int d = 0; d < inner.length; d++) {
      chunks *= shards.chunk()[d] / inner[d];
    }
    if (chunks > ShardedChunks.MAX_CHUNKS) {
      throw new Unsupported(
          "sharding_indexed",
          "%,d chunks in a shard, more than the limit of %,d"
              .formatted(chunks, ShardedChunks.MAX_CHUNKS));
    }
    CodecChain chain = chain(sharding.path("codecs"), inner.length);
    return ArrayMetadata.of(shards, inner, index(sharding), chain, fill(chain));
  }

  private static ShardedChunks.Index index(JsonNode sharding) throws Unsupported {
    String location = sharding.path("index_location").asText("end");
    JsonNode codecs = sharding.path("index_codecs");
    boolean hasChecksum = codecs.size() == 2 && name(codecs.path(1)).equals("crc32c");
    boolean isPlain = codecs.size() == 1 || hasChecksum;
    if (!isPlain
        || !name(codecs.path(0)).equals("bytes")
        || !(location.equals("end") || location.equals("start"))) {
      throw new Unsupported(
          "sharding_indexed",
          "index_codecs %s at \"%s\" are not supported, only bytes and crc32c at \"start\" or \"end\""
              .formatted(codecs, location));
    }
    boolean bigEndian = isBigEndian(codecs.path(0));
    return new ShardedChunks.Index(location.equals("end"), hasChecksum, bigEndian);
  }

  private CodecChain chain(JsonNode codecs, int dimensions) throws Unsupported {
    ArrayMetadata.requireFew(codecs, "codecs");
    List<Integer> axes = IntStream.range(0, dimensions).boxed().toList();
    List<CodecChain.Step> steps = new ArrayList<>();
    ZarrType stored = null;
    for (JsonNode codec : codecs) {
      String name = name(codec);
      if (name.equals("transpose") && stored == null) {
        axes = transposed(axes, codec);
      } else if (stored == null) {
        stored = serialised(name, codec);
      } else {
        steps.add(0, byteCodec(name)); // decoding starts with the last one
      }
    }
    if (stored == null) {
      throw new Unsupported("codecs", "%s have no codec from an array to bytes".formatted(codecs));
    }
    return new CodecChain(stored, steps, axes);
  }

  private static List<Integer> transposed(List<Integer> axes, JsonNode codec) throws Unsupported {
    long[] order = ArrayMetadata.integers(codec.path("configuration").path("order"), "transpose");
    List<Integer> result = new ArrayList<>();
    for (long axis : order) {
      if (axis < 0 || axis >= axes.size() || result.contains(axes.get((int) axis))) {
        break;
      }
      result.add(axes.get((int) axis));
    }
    if (result.size() != axes.size() || order.length != axes.size()) {
      throw new Unsupported(
          "transpose", "%s is not a permutation of %d axes".formatted(codec, axes.size()));
    }
    return result;
  }

  private ZarrType serialised(String name, JsonNode codec) throws Unsupported {
    boolean isVarying = type.form() == ZarrType.Form.TEXT;
    if (name.equals("sharding_indexed")) {
      throw new Unsupported(
          "codecs",
          "sharding_indexed is supported as the first codec, with one level of shards: write the array with its chunks in one level of shards, or without shards");
    }
    if (!name.equals(isVarying ? "vlen-utf8" : "bytes")) {
      throw new Unsupported(
          "codecs",
          "\"%s\" is not supported for the data type %s: supported are sharding_indexed, transpose, %s, blosc, zstd, gzip and crc32c"
              .formatted(name, json.path("data_type"), isVarying ? "vlen-utf8" : "bytes"));
    }
    return isVarying ? type : type.withOrder(isBigEndian(codec));
  }

  private static boolean isBigEndian(JsonNode bytes) throws Unsupported {
    String endian = bytes.path("configuration").path("endian").asText("little");
    if (!endian.equals("little") && !endian.equals("big")) {
      throw new Unsupported("codecs", "endian \"%s\" is neither little nor big".formatted(endian));
    }
    return endian.equals("big");
  }

  private static CodecChain.Step byteCodec(String name) throws Unsupported {
    return switch (name) {
      case "blosc", "zstd", "gzip" -> MetadataV2.numcodec(name, "codecs");
      case "crc32c" ->
          CodecChain.Step.fixed(
              name, Compression.CRC_BYTES, (encoded, size) -> Compression.crc32c(encoded));
      default -> {
        if (name.startsWith(NUMCODECS)) {
          yield MetadataV2.numcodec(name.substring(NUMCODECS.length()), "codecs");
        }
        throw new Unsupported(
            "codecs",
            "\"%s\" is not supported: supported are blosc, zstd, gzip, crc32c, and numcodecs.zlib, numcodecs.lz4 and numcodecs.bz2"
                .formatted(name));
      }
    };
  }
}
