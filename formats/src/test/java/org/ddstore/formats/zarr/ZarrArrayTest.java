// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import java.util.zip.DeflaterOutputStream;
import org.apache.commons.io.FileUtils;
import org.apache.hadoop.conf.Configuration;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.ddstore.formats.ElementType;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.InputFile;
import org.ddstore.formats.Python;
import org.ddstore.formats.ReadBudget;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Arrays are read as zarr and NumPy read them: all of them, and boxes. */
class ZarrArrayTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Configuration HADOOP = new Configuration();

  @TempDir static Path folder;

  @BeforeAll
  static void write() throws IOException {
    try (InputStream script = ZarrArrayTest.class.getResourceAsStream("fixtures.py")) {
      Python.run(folder, new String(script.readAllBytes(), UTF_8));
    }
  }

  static InputFile file(Path path) throws IOException {
    return InputFile.matching(path.toUri().toString(), () -> HADOOP).get(0);
  }

  static Stream<JsonNode> cases() throws IOException {
    List<JsonNode> cases = new ArrayList<>();
    JSON.readTree(folder.resolve("cases.json").toFile()).forEach(cases::add);
    return cases.stream();
  }

  @ParameterizedTest
  @MethodSource("cases")
  void isReadAsByItsTool(JsonNode expected) throws IOException {
    String name = expected.path("name").asText();
    int pair = expected.path("dtype").asText().matches(".c\\d+") ? 1 : 0;
    try (ZarrArray array = ZarrArray.open(file(folder.resolve(name)))) {
      long[] shape = longs(expected.path("shape"), pair);

      assertThat(array.shape()).isEqualTo(shape);
      assertBox(array, name + ".bin", new long[shape.length], shape);
      array.cacheBytes(1); // only the last chunk
      for (int i = 0; i < expected.path("boxes").size(); i++) {
        JsonNode box = expected.path("boxes").get(i);
        long[] start = longs(box.path("start"), 0);
        long[] lengths = longs(box.path("shape"), pair);
        assertBox(array, name + ".box" + i, Arrays.copyOf(start, lengths.length), lengths);
      }
    }
  }

  /** Returns the integers of a list, with a last axis of pairs. */
  private static long[] longs(JsonNode list, int pair) {
    long[] values = new long[list.size() + pair];
    Arrays.fill(values, 2);
    for (int i = 0; i < list.size(); i++) {
      values[i] = list.get(i).asLong();
    }
    return values;
  }

  private static void assertBox(ZarrArray array, String file, long[] start, long... shape)
      throws IOException {
    int[] lengths = Arrays.stream(shape).mapToInt(Math::toIntExact).toArray();
    if (array.elementType() == ElementType.TEXT) {
      String[] expected = JSON.readValue(folder.resolve(file).toFile(), String[].class);
      assertThat(array.readTexts(start, lengths)).as(file).isEqualTo(expected);
      return;
    }
    ByteBuffer expected = ByteBuffer.wrap(Files.readAllBytes(folder.resolve(file)));
    assertThat(array.read(start, lengths)).as(file).isEqualTo(expected);
  }

  @Test
  void readsAttributesOfArrays() throws IOException {
    Path zarr = copy("v2_1d");
    Files.writeString(zarr.resolve(".zattrs"), "{\"limit\": NaN, \"names\": [\"a\"]}");
    try (ZarrArray v3 = ZarrArray.open(file(folder.resolve("v3_gzip")));
        ZarrArray v2 = ZarrArray.open(file(zarr));
        ZarrArray none = ZarrArray.open(file(folder.resolve("v2_0d")))) {
      assertThat(v3.attributes().path("unit").asText()).isEqualTo("m");
      assertThat(v2.attributes().path("limit").doubleValue()).isNaN();
      assertThat(v2.attributes().path("names").get(0).asText()).isEqualTo("a");
      assertThat(none.attributes()).isEmpty();
    }
  }

  private static Path copy(String name) throws IOException {
    Path copy = Files.createTempDirectory(folder, name + "_");
    FileUtils.copyDirectory(folder.resolve(name).toFile(), copy.toFile());
    return copy;
  }

  private static void edit(Path file, String from, String to) throws IOException {
    String text = Files.readString(file);
    assertThat(text).as("%s", file).contains(from);
    Files.writeString(file, text.replace(from, to));
  }

  private static void readAll(Path path) throws IOException {
    try (ZarrArray array = ZarrArray.open(file(path))) {
      array.read(
          new long[array.shape().length],
          Arrays.stream(array.shape()).mapToInt(Math::toIntExact).toArray());
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "v2_zlib_C | \"zlib\"    | \"lzma\"     | compressor: \"lzma\" is not supported: supported are blosc, zstd",
        "v2_zlib_C | \"<f4\"     | \"<M8[ns]\"  | data type: \"<M8[ns]\" is not supported: supported are bool",
        "v2_zlib_C | \"<f4\"     | ~\"|O\"~     | filters: objects are supported as texts only, with the filter vlen-utf8",
        "v2_zlib_C | \"order\": \"C\" | \"order\": \"A\" | order: \"A\" is neither",
        "v2_zlib_C | \"fill_value\": 0.0 | \"fill_value\": \"x\" | fill_value: \"x\" is not a value of the data type",
        "v2_zlib_C | \"zarr_format\": 2 | \"zarr_format\": 1 | zarr_format: 1 instead of 2",
        "v2_zlib_C | \"shape\"   | \"form\"     | shape: ",
        "v2_zlib_C | \"filters\": null | \"filters\": [{\"id\": \"quantize\"}] | filters: \"quantize\" is not supported for the data type \"<f4\"",
        "v2_delta_int16 | \"astype\": \">i2\" | \"astype\": \">i4\" | filters: delta of \">i2\" stored as \">i4\" is not supported",
        "v2_1d     | \"fill_value\": 0 | \"fill_value\": \"1e999999999\" | fill_value: \"1e999999999\" is not a value of the data type",
        "v3_gzip   | \"gzip\"    | \"zlib-ng\"  | codecs: \"zlib-ng\" is not supported: supported are blosc, zstd, gzip, crc32c",
        "v3_gzip   | \"int32\"   | \"bfloat16\" | data type: \"bfloat16\" is not supported",
        "v3_gzip   | \"regular\" | \"rectilinear\" | chunk_grid: ",
        "v3_gzip   | \"default\" | \"suffix\"   | chunk_key_encoding: ",
        "v3_gzip   | \"attributes\" | \"acme\"  | acme: the extension is not supported",
        "v3_gzip   | \"bytes\"   | \"packbits\" | codecs: \"packbits\" is not supported for the data type \"int32\"",
        "v3_all    | [2, 0, 1]   | [2, 0, 0]    | transpose: ",
        "v3_shards_end | ~\"codecs\": [{\"name\": \"bytes\"~ | ~\"codecs\": [{\"name\": \"sharding_indexed\"~ | codecs: sharding_indexed is supported as the first codec, with one level of shards",
        "v3_shards_end | [2, 3, 4] | [3, 3, 4]  | sharding_indexed: chunks of [3,3,4] do not divide the shard",
        "v3_shards_end | \"index_location\": \"end\" | \"index_location\": \"middle\" | sharding_indexed: index_codecs",
      })
  void refusesUnsupportedMetadata(String name, String from, String to, String message)
      throws IOException {
    Path zarr = copy(name);
    Path metadata = zarr.resolve(name.startsWith("v2") ? ".zarray" : "zarr.json");
    edit(metadata, from, to);
    String expected = metadata.getFileName() + ": " + message;

    assertThatThrownBy(() -> readAll(zarr))
        .isInstanceOf(FormatException.class)
        .hasMessageContaining(zarr.getFileName().toString())
        .hasMessageContaining(expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "v2_none_C   | 0.0.0     | truncated or damaged: the decoded chunk has",
        "v2_zlib_C   | 0.0.0     | codec zlib: ",
        "v2_gzip_C   | 0.0.0     | codec gzip: ",
        "v2_bz2_C    | 0.0.0     | codec bz2: ",
        "v2_lz4_C    | 0.0.0     | codec lz4: damaged: ",
        "v2_zstd_C   | 0.0.0     | codec zstd: damaged: ",
        "v2_blosc_lz4_1_C | 0.0.0 | codec blosc: truncated or damaged: the header declares",
        "v3_zstd_frames | c/0/0/0 | codec zstd: damaged: ",
        "v3_crc32c   | c/0/0/0   | codec crc32c: damaged: the checksum is",
        "v3_shards_end | c/0/0/0 | index of the shard: damaged: the checksum is",
        "v3_shards_start | c/0/0/0 | ends at byte",
        "v2_delta_int16 | 0.0    | codec blosc: truncated or damaged",
      })
  void namesTheChunkThatIsTruncatedOrForeign(String name, String chunk, String message)
      throws IOException {
    Path zarr = copy(name);
    byte[] content = Files.readAllBytes(zarr.resolve(chunk));
    for (int length : new int[] {content.length * 2 / 3, 3, 0}) {
      Files.write(zarr.resolve(chunk), Arrays.copyOf(content, length));
      assertThatThrownBy(() -> readAll(zarr))
          .as("%d of %d bytes", length, content.length)
          .isInstanceOf(FormatException.class)
          .hasMessageContaining(zarr.getFileName() + "/" + chunk + ": ");
    }
    Files.write(zarr.resolve(chunk), Arrays.copyOf(content, content.length * 2 / 3));
    if (!name.equals("v3_shards_start")) {
      assertThatThrownBy(() -> readAll(zarr)).hasMessageContaining(message);
    }
    byte[] foreign = "text in place of a chunk ".repeat(200).getBytes(UTF_8);
    Files.write(zarr.resolve(chunk), foreign);
    assertThatThrownBy(() -> readAll(zarr))
        .isInstanceOf(FormatException.class)
        .hasMessageContaining(chunk + ": ");
  }

  @Test
  void refusesFramesThatAreTogetherLargerThanTheChunk() throws IOException {
    Path zarr = copy("v3_zstd_frames");
    Path chunk = zarr.resolve("c/0/0/0");
    byte[] content = Files.readAllBytes(chunk);
    Files.write(chunk, content, StandardOpenOption.APPEND);
    assertThatThrownBy(() -> readAll(zarr))
        .isInstanceOf(FormatException.class)
        .hasMessageContaining("c/0/0/0: codec zstd: ");
    Files.write(chunk, content);
    readAll(zarr);
  }

  @Test
  void readsWithoutAFillValueIfEveryChunkHasAFile() throws IOException {
    Path zarr = copy("v2_zlib_C");
    edit(zarr.resolve(".zarray"), "\"fill_value\": 0.0", "\"fill_value\": \"x\"");
    assertThatThrownBy(() -> readAll(zarr))
        .hasMessageEndingWith("change it in the metadata, to null if every chunk has a file");
    edit(zarr.resolve(".zarray"), "\"x\"", "null");
    readAll(zarr);
  }

  /**
   * The library of blosc is C: damage must end in an error or in other values, never in a crash.
   */
  @Test
  void survivesDamagedChunksOfBlosc() throws IOException {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    int refused = 0;
    for (String name : List.of("v2_blosc_lz4_1_C", "v2_blosc_zstd_2_C", "v2_blosc_blosclz_0_C")) {
      Path zarr = copy(name);
      byte[] content = Files.readAllBytes(zarr.resolve("0.0.0"));
      for (int i = 0; i < 200; i++) {
        byte[] damaged = content.clone();
        int header = i % 2 == 0 ? 16 : 0; // half of them in the bytes after the header
        int at = header + random.nextInt((i % 4 == 1 ? 32 : content.length) - header);
        damaged[at] = (byte) (damaged[at] + 1 + random.nextInt(255));
        Files.write(zarr.resolve("0.0.0"), damaged);
        try {
          readAll(zarr);
        } catch (FormatException e) {
          assertThat(e).as("seed %d", seed).hasMessageContaining("0.0.0: ");
          refused++;
        }
      }
    }
    assertThat(refused).as("seed %d", seed).isPositive();
  }

  @Test
  void refusesTextsThatEndOutsideTheChunk() throws IOException {
    Path zarr = copy("v2_vlen");
    edit(zarr.resolve(".zarray"), "\"id\": \"blosc\"", "\"id\": \"zlib\"");
    ByteBuffer chunk = ByteBuffer.allocate(12).order(ByteOrder.LITTLE_ENDIAN);
    chunk.putInt(6).putInt(1000).putInt(0);
    try (OutputStream out = new DeflaterOutputStream(Files.newOutputStream(zarr.resolve("0.0")))) {
      out.write(chunk.array());
    }
    try (ZarrArray array = ZarrArray.open(file(zarr))) {
      assertThatThrownBy(() -> array.readTexts(new long[2], 1, 1))
          .isInstanceOf(FormatException.class)
          .hasMessageContaining("0.0: truncated: text 0 of 6 ends outside the chunk");
    }
  }

  @Test
  void tellsMissingChunksFromAMissingArray() throws IOException {
    Path zarr = copy("v2_missing_i4");
    Path undefined = copy("v2_none_C");
    edit(undefined.resolve(".zarray"), "\"fill_value\": 0.0", "\"fill_value\": null");
    Files.delete(undefined.resolve("1.2.0"));
    assertThatThrownBy(() -> readAll(undefined))
        .isInstanceOf(FormatException.class)
        .hasMessageContaining("1.2.0: chunk [1, 2, 0]: missing, and the array has no fill_value");
    try (ZarrArray array = ZarrArray.open(file(zarr))) {
      FileUtils.cleanDirectory(zarr.toFile());
      assertThatThrownBy(() -> array.read(new long[2], 1, 1))
          .isInstanceOf(FileNotFoundException.class)
          .hasMessageContaining(".zarray");
    }
    assertThatThrownBy(() -> ZarrArray.open(file(zarr)))
        .hasMessageContaining("not a zarr array: the folder has no .zarray");
    Files.writeString(zarr.resolve(".zarray"), "{\"shape\": [1");
    assertThatThrownBy(() -> ZarrArray.open(file(zarr)))
        .isInstanceOf(FormatException.class)
        .hasMessageContaining(".zarray: truncated or damaged: not JSON (line 1)");
    Files.writeString(zarr.resolve(".zarray"), "[]");
    assertThatThrownBy(() -> ZarrArray.open(file(zarr)))
        .hasMessageContaining(".zarray: not a JSON object, but ARRAY");
  }

  /** Sizes that only the metadata or a header claim are refused before memory is allocated. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "zlib  | 789c636400000003              | cannot be decoded to the 2,147,483,639 of a chunk",
        "lz4   | f7ffff7f00                    | cannot be decoded to the 2,147,483,639 of a chunk",
        "zstd  | 28b52ffda0f7ffff7f010000      | cannot be decoded to the 2,147,483,639 of a chunk",
        "blosc | 02010001f7ffff7ff7ffff7f10000000 | cannot be decoded to the 2,147,483,639 of a chunk",
        "bz2   | 425a683900000000              | cannot be decoded to the 2,147,483,639 of a chunk",
        "''    | 00                            | the decoded chunk has 1 bytes instead of 2,147,483,639",
      })
  void refusesChunksThatTheirFilesCannotHold(String codec, String content, String message)
      throws IOException {
    Path zarr = bytes(codec, "[2147483639]", "[2147483639]");
    Files.write(zarr.resolve("0"), HexFormat.of().parseHex(content));
    try (ZarrArray array = ZarrArray.open(file(zarr))) {
      assertThatThrownBy(() -> array.read(new long[1], 1))
          .isInstanceOf(FormatException.class)
          .hasMessageContaining(zarr.getFileName() + "/0: ")
          .hasMessageContaining(message);
    }
  }

  /** Creates an array of bytes of version 2 without chunks. */
  private static Path bytes(String codec, String shape, String chunks) throws IOException {
    Path zarr = Files.createTempDirectory(folder, "bytes");
    String compressor = codec.isEmpty() ? "null" : "{\"id\": \"%s\"}".formatted(codec);
    Files.writeString(
        zarr.resolve(".zarray"),
        """
        {"zarr_format": 2, "shape": %s, "chunks": %s, "dtype": "|u1", "order": "C",
         "fill_value": 7, "filters": null, "compressor": %s}
        """
            .formatted(shape, chunks, compressor));
    return zarr;
  }

  @Test
  void refusesLargeValuesThatNoChunksBack() throws IOException {
    int claim = (int) ReadBudget.claimBytes();
    for (String chunks : List.of("[1, 2147483639]", "[1, 8192]")) {
      Path zarr = bytes("", "[1, 2147483639]", chunks);
      try (ZarrArray array = ZarrArray.open(file(zarr))) {
        assertThat(array.read(new long[2], 1, 3)).isEqualTo(ByteBuffer.wrap(new byte[] {7, 7, 7}));
        assertThatThrownBy(() -> array.read(new long[2], 1, claim + 1))
            .isInstanceOf(FormatException.class)
            .hasMessageContaining("of which most chunks are missing: needs");
      }
    }
  }

  @Test
  void refusesReadsOfManyChunks() throws IOException {
    try (ZarrArray array = ZarrArray.open(file(bytes("", "[4, 262145]", "[1, 1]")))) {
      assertThat(array.read(new long[2], 2, 2).array()).containsExactly(7, 7, 7, 7);
      assertThatThrownBy(() -> array.read(new long[2], 1, 262_145))
          .isInstanceOf(FormatException.class)
          .hasMessageContaining("box [1, 262145]: has 262,145 chunks, more than the limit");
    }
  }

  /** Each array keeps its last chunk: together they must fit into the memory of the task. */
  @Test
  void countsTheChunksOfAllArraysOfAReader() throws IOException {
    int size = (int) (ReadBudget.heldBytes() / 4);
    ReaderMemory memory = new ReaderMemory();
    Path zarr = bytes("", "[%d]".formatted(2 * size), "[%d]".formatted(size));
    try (RandomAccessFile chunk = new RandomAccessFile(zarr.resolve("0").toFile(), "rw")) {
      chunk.setLength(size);
    }
    for (int i = 0; i < 3; i++) {
      ZarrArray.open(file(zarr), memory)
          .copy(new long[1], new int[] {1}, ByteBuffer.allocate(1), 0);
    }
    try (ZarrArray last = ZarrArray.open(file(zarr), memory)) {
      assertThatThrownBy(() -> last.copy(new long[1], new int[] {1}, ByteBuffer.allocate(1), 0))
          .isInstanceOf(FormatException.class)
          .hasMessageContaining("/0: the chunk, with other arrays of the row");
    }
  }

  @Test
  void readsShardsOfMoreThan2To31Elements() throws IOException {
    Path zarr = Files.createDirectories(Files.createTempDirectory(folder, "shard").resolve("c/0"));
    Files.writeString(
        zarr.resolve("../../zarr.json"),
        """
        {"zarr_format": 3, "node_type": "array", "shape": [3, 8589934592], "data_type": "uint8",
         "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 4294967296]}},
         "chunk_key_encoding": {"name": "default"}, "fill_value": 3,
         "codecs": [{"name": "sharding_indexed", "configuration": {"chunk_shape": [1, 1073741824],
           "codecs": [{"name": "bytes"}, {"name": "gzip"}], "index_codecs": [{"name": "bytes"}]}}]}
        """);
    ByteBuffer index = ByteBuffer.allocate(8 * 16).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < 16; i++) {
      index.putLong(-1);
    }
    index.putLong(6 * 16, 128).putLong(6 * 16 + 8, 5);
    Files.write(zarr.resolve("1"), index.array());
    try (ZarrArray array = ZarrArray.open(file(zarr.resolve("../..").normalize()))) {
      assertThat(array.read(new long[] {1, 4294967295L}, 1, 2).array()).containsExactly(3, 3);
      assertThatThrownBy(() -> array.read(new long[] {1, 6442450944L}, 1, 2))
          .hasMessageContaining(
              "c/0/1: truncated or damaged: the index of the shard places chunk 6");
      Files.write(zarr.resolve("1"), new byte[127]);
    }
    try (ZarrArray array = ZarrArray.open(file(zarr.resolve("../..").normalize()))) {
      assertThatThrownBy(() -> array.read(new long[] {0, 4294967296L}, 1, 1))
          .hasMessageContaining("c/0/1: truncated: 127 bytes, fewer than those of an index of 8");
    }
  }

  @Test
  void refusesMetadataThatWouldBeExpensive() throws IOException {
    Path zarr = bytes("", "[4]", "[4]");
    String good = Files.readString(zarr.resolve(".zarray"));
    Map<String, String> damages =
        Map.of(
            good.replace("[4]", "[" + "1,".repeat(64) + "1]"), "65 dimensions, more than the limit",
            good.replace("[4]", "[" + "1,".repeat(9999) + "1.5]"), "is not a list of integers",
            good.replace("null,", "[" + "{},".repeat(16) + "{}],"),
                "17 codecs, more than the limit",
            good.replace("null,", "{\"id\": \"delta\"},"),
                "filters: {\"id\":\"delta\"} is not a list",
            good.replace("[4]", "[4294967296, 4294967296]"), "2^63 elements or more",
            "{\"a\":".repeat(200_000), "nesting depth",
            " ".repeat((int) (ReadBudget.heldBytes() / 40) + 1), "metadata: needs");
    for (Map.Entry<String, String> damage : damages.entrySet()) {
      Files.writeString(zarr.resolve(".zarray"), damage.getKey());
      assertThatThrownBy(() -> ZarrArray.open(file(zarr)))
          .isInstanceOf(FormatException.class)
          .hasMessageContaining(".zarray: ")
          .hasMessageContaining(damage.getValue())
          .extracting(e -> e.getMessage().length(), as(InstanceOfAssertFactories.INTEGER))
          .isLessThan(1000);
    }
  }

  @Test
  void tellsKeysFromOtherNames() throws Unsupported {
    ChunkGrid dots = ChunkGrid.of(new long[] {6, 4}, new long[] {3, 2}, "", ".");
    ChunkGrid folders = ChunkGrid.of(new long[] {6, 4}, new long[] {3, 2}, "c", "/");
    ChunkGrid one = ChunkGrid.of(new long[0], new long[0], "c", "/");

    assertThat(List.of("0.0", "1.1")).allMatch(dots::isKey);
    assertThat(
            List.of("0/0", "0", "00.1", "2.0", "c.0.0", "0.0.0", "0.x", "0.99999999999999999999"))
        .noneMatch(dots::isKey);
    assertThat(List.of("c/0/0", "c/1/1")).allMatch(folders::isKey);
    assertThat(List.of("0/0", "c/0.0", "c.0.0", "c/2/0", "c0/0")).noneMatch(folders::isKey);
    assertThat(one.isKey("c")).isTrue();
    assertThat(one.isKey("0")).isFalse();
  }

  @Test
  void refusesBoxesOutsideTheArray() throws IOException {
    try (ZarrArray array = ZarrArray.open(file(folder.resolve("v2_1d")))) {
      assertThatThrownBy(() -> array.read(new long[] {95}, 6))
          .isInstanceOf(IndexOutOfBoundsException.class)
          .hasMessageContaining("box [6] at [95] outside [100]");
      assertThat(array.read(new long[] {100}, 0).remaining()).isZero();
      assertThatThrownBy(() -> array.readTexts(new long[1], 1))
          .isInstanceOf(IllegalStateException.class);
    }
  }
}
