// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.ddstore.Catalog;
import org.ddstore.contract.Needed;
import org.ddstore.memory.BootId;
import org.ddstore.memory.Nonce;
import org.ddstore.sampling.EpochState;
import org.ddstore.spark.job.StartedRank;
import org.ddstore.spark.types.ColumnMapping;
import org.ddstore.spark.wire.ReaderTool;
import org.ddstore.spark.wire.connection.ReadClaims;
import org.ddstore.spark.wire.connection.ReadKey;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.ProcessAddress;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Handles as JSON: what they keep, and what a hostile text cannot do. */
class HandleJsonTest {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final Schema SCHEMA =
      Schema.of(
          Field.fixed("image", DType.FLOAT32, 2, 3),
          Field.ragged("words", DType.INT64),
          Field.string("text \"\u00e4\""));

  private final ReadClaims claims = new ReadClaims(Nonce.random(), "nightly", 1_800_000_000_000L);
  private final ReadKey key = ReadKey.random();
  private final OutsideHandle handle = handle("");

  private OutsideHandle handle(String problem) {
    List<Catalog> catalogs = new ArrayList<>();
    for (int group = 0; group < 2; group++) {
      List<SegmentAddress> segments = new ArrayList<>();
      for (int rank = 0; rank < 4; rank++) {
        ProcessAddress process =
            new ProcessAddress("10.0.0." + group, 4000 + rank / 2, Long.MIN_VALUE + rank / 2);
        segments.add(
            new SegmentAddress(
                Nonce.random(),
                new BootId(-7 - group),
                rank == 3 ? null : "/dev/shm/ddstore-1-x/segment" + rank,
                1_000_000_000_000L + rank,
                12_345L * rank,
                "77@host",
                problem.isEmpty() ? process : null));
      }
      catalogs.add(Catalog.of(2, StartedRank.ROWS, SCHEMA, segments));
    }
    StructType source = new StructType().add("image", DataTypes.BinaryType).add("n", "bigint");
    return new OutsideHandle(
        "train",
        5,
        4_000_000_000_006L,
        source,
        List.of(new ColumnMapping(List.of("image"), DataTypes.BinaryType, List.of("image"))),
        catalogs,
        "00112233445566778899aabbccddeeff",
        claims,
        key,
        problem);
  }

  @Test
  void keepsEverything() {
    OutsideHandle read = HandleJson.parse(HandleJson.write(handle));
    assertEqual(read, handle);
    assertThat(HandleJson.write(read)).isEqualTo(HandleJson.write(handle));
    OutsideHandle closed = handle("Spark encrypts its network");
    assertEqual(HandleJson.parse(HandleJson.write(closed)), closed);
    assertThat(HandleJson.write(closed)).contains("\"noPort\":\"Spark encrypts its network\"");
  }

  private static void assertEqual(OutsideHandle actual, OutsideHandle expected) {
    assertThat(actual)
        .usingRecursiveComparison()
        .withEqualsForType(Object::equals, StructType.class)
        .isEqualTo(expected);
  }

  @Test
  void showsNoKey() {
    String hex = MAPPER.createObjectNode().put("k", key.toBytes()).toString();
    assertThat(handle + "" + handle.key() + handle.claims()).doesNotContain(hex);
    String json = HandleJson.write(handle);
    String secret = json.replaceAll(".*\"key\":\"([0-9a-f]+)\".*", "$1");
    assertThat(secret).hasSize(64);
    for (int cut = 0; cut < json.length(); cut += 37) {
      String text = json.substring(0, cut) + "\u0001" + json.substring(cut);
      Throwable refused = catchThrowable(() -> HandleJson.parse(text));
      if (refused != null) {
        assertThat(refused).isInstanceOf(IllegalArgumentException.class);
        assertThat(refused.getMessage()).doesNotContain(secret.substring(0, 16));
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{ | this is no handle of a store: no JSON",
        "'' | this is no handle of a store: format",
        "[1] | this is no handle of a store: format is not \"ddstore-handle\"",
        "null | this is no handle of a store: format",
        "{\"format\":\"ddstore-handle\"} | handle.version: no whole number",
        "{\"format\":\"ddstore-handle\",\"version\":2} | handle version 2: this release reads version 1",
        "{\"format\":\"ddstore-handle\",\"version\":1} | handle.store: no text",
        "{\"a\":1,\"a\":2} | this is no handle of a store: no JSON at line 1",
        "{} {} | this is no handle of a store: no JSON at line 1",
      })
  void refusesOtherTexts(String text, String problem) {
    assertThatThrownBy(() -> HandleJson.parse(text == null ? "" : text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(problem);
  }

  private String changed(Consumer<ObjectNode> change) {
    try {
      ObjectNode json = (ObjectNode) MAPPER.readTree(HandleJson.write(handle));
      change.accept(json);
      return json.toString();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static ObjectNode segment(ObjectNode json) {
    return (ObjectNode) json.get("copies").get(0).get(1);
  }

  private static ObjectNode process(ObjectNode json) {
    return (ObjectNode) json.get("processes").get(0);
  }

  @Test
  void namesTheMemberThatIsWrong() {
    List<Consumer<ObjectNode>> changes =
        List.of(
            json -> json.put("rows", 5),
            json -> json.put("rows", "5"),
            json -> json.put("rows", -1),
            json -> json.put("rows", 1e300),
            json -> json.put("ranks", 0),
            json -> json.put("ranks", 3),
            json -> json.put("recordBytes", 8),
            json -> json.put("store", "00"),
            json -> json.put("name", "x".repeat(1001)),
            json -> json.putArray("copies"),
            json -> json.putArray("fields"),
            json -> ((ObjectNode) json.get("fields").get(0)).put("dtype", "complex"),
            json -> ((ObjectNode) json.get("fields").get(0)).put("kind", "sparse"),
            json -> ((ArrayNode) json.get("fields").get(0).get("shape")).add(Integer.MAX_VALUE),
            json -> json.put("sourceSchema", "{\"type\":"),
            json -> segment(json).put("process", 99),
            json -> segment(json).put("process", -1),
            json -> segment(json).put("firstRow", 0),
            json -> segment(json).put("rows", Long.MAX_VALUE),
            json -> segment(json).put("rank", 7),
            json -> segment(json).put("nonce", "zz".repeat(16)),
            json -> segment(json).put("path", 7),
            json -> segment(json).put("path", "x".repeat(5000)),
            json -> process(json).put("port", 0),
            json -> process(json).put("port", 65_536),
            json -> process(json).put("host", "a b"),
            json -> process(json).put("host", ""),
            json -> process(json).put("id", "12"),
            json -> ((ObjectNode) json.get("grant")).put("label", "a b"),
            json -> ((ObjectNode) json.get("grant")).put("expiresMs", -1),
            json -> ((ObjectNode) json.get("grant")).put("key", "00"),
            json -> json.remove("grant"));
    for (int c = 0; c < changes.size(); c++) {
      String text = changed(changes.get(c));
      assertThatThrownBy(() -> HandleJson.parse(text))
          .as("change %d", c)
          .isInstanceOfAny(IllegalArgumentException.class);
    }
    assertThat(HandleJson.parse(changed(json -> json.put("later", 1))).name()).isEqualTo("train");
    assertThatThrownBy(() -> HandleJson.parse(changed(json -> segment(json).put("process", 99))))
        .hasMessage("handle.copies[0][1].process: 99 outside [0, 3]");
  }

  private static Consumer<ObjectNode> fields(int count) {
    return json -> {
      ArrayNode fields = json.putArray("fields");
      for (int f = 0; f < count; f++) {
        fields.addObject().put("name", "f" + f).put("kind", "fixed").put("dtype", "int8");
        ((ObjectNode) fields.get(f)).putArray("shape");
      }
      json.put("recordBytes", count);
    };
  }

  /** The only field is fixed, unless the kind is another. */
  private static Consumer<ObjectNode> field(String kind, String dtype, int... shape) {
    return json -> {
      fields(1).accept(json);
      ObjectNode field = (ObjectNode) json.get("fields").get(0);
      ArrayNode sizes = field.put("kind", kind).put("dtype", dtype).putArray("shape");
      IntStream.of(shape).forEach(sizes::add);
      long elements = IntStream.of(shape).asLongStream().reduce(1, (a, b) -> a * b);
      boolean fixed = kind.equals("fixed");
      json.put("recordBytes", fixed ? elements * (dtype.equals("int8") ? 1 : 8) : 0);
    };
  }

  private static Consumer<ObjectNode> fieldName(String name) {
    return field("fixed", "int8")
        .andThen(json -> ((ObjectNode) json.get("fields").get(0)).put("name", name));
  }

  private static Consumer<ObjectNode> grant(String member, Object value) {
    return json -> ((ObjectNode) json.get("grant")).putPOJO(member, value);
  }

  private static Consumer<ObjectNode> filledTo(int bytes) {
    return json -> {
      ArrayNode later = json.putArray("later");
      for (int quarter = 0; quarter < 4; quarter++) {
        int rest = bytes - json.toString().getBytes(UTF_8).length;
        later.add(" ".repeat(Math.min(rest - 3, bytes / 4)));
      }
    };
  }

  /** Pairs of the largest or smallest legal value of a limit, and one that is beyond. */
  private static List<List<Consumer<ObjectNode>>> limits() {
    return List.of(
        List.of(
            json -> json.put("name", "\u00e4".repeat(500)),
            json -> json.put("name", "\u00e4".repeat(501))),
        List.of(
            json -> json.put("noPort", "x".repeat(1000)),
            json -> json.put("noPort", "x".repeat(1001))),
        List.of(
            json -> process(json).put("host", "x".repeat(255)),
            json -> process(json).put("host", "x".repeat(256))),
        List.of(
            json -> segment(json).put("path", "x".repeat(4096)),
            json -> segment(json).put("path", "x".repeat(4097))),
        List.of(fields(1), fields(0)),
        List.of(fields(0xFFFF), fields(0x10000)),
        List.of(fieldName("\u00e4".repeat(500)), fieldName("\u00e4".repeat(500) + "x")),
        List.of(fieldName("x"), fieldName("")),
        List.of(fieldName("x"), fieldName("x\0")),
        List.of(
            field("fixed", "int8", 1, 1, 1, 1, 1, 1, 1, 1),
            field("fixed", "int8", 1, 1, 1, 1, 1, 1, 1, 1, 1)),
        List.of(field("fixed", "int8", 1), field("fixed", "int8", 0)),
        List.of(field("fixed", "int64", 1 << 27), field("fixed", "int64", (1 << 27) + 1)),
        List.of(field("ragged", "int64", 1 << 10, 1 << 17), field("ragged", "int64", 2, 1 << 27)),
        List.of(
            json -> process(json).put("port", 65_535), json -> process(json).put("port", 65_536)),
        List.of(
            json -> segment(json).put("bytes", Long.MAX_VALUE - 12_345 * 5),
            json -> segment(json).put("bytes", Long.MAX_VALUE - 12_345 * 5 + 1)),
        List.of(grant("label", "x".repeat(64)), grant("label", "x".repeat(65))),
        List.of(grant("label", "x"), grant("label", "")),
        List.of(grant("expiresMs", Long.MAX_VALUE - 1), grant("expiresMs", Long.MAX_VALUE)),
        List.of(json -> {}, json -> json.putArray("copies")),
        List.of(json -> {}, json -> json.putArray("copies").addArray()),
        List.of(
            json -> {},
            json -> { // as many rows, otherwise divided
              segment(json).put("rows", segment(json).get("rows").longValue() + 1);
              ObjectNode next = (ObjectNode) json.get("copies").get(0).get(2);
              next.put("firstRow", next.get("firstRow").longValue() + 1);
              next.put("rows", next.get("rows").longValue() - 1);
            }),
        List.of(filledTo(HandleJson.MAX_BYTES), filledTo(HandleJson.MAX_BYTES + 1)));
  }

  @Test
  void hasTheLimitsOfTheReaderInC() throws Exception {
    try (ReaderTool tool =
        ReaderTool.PROGRAM.toFile().canExecute() ? ReaderTool.start(ReaderTool.PROGRAM) : null) {
      for (List<Consumer<ObjectNode>> limit : limits()) {
        for (int beyond = 0; beyond < 2; beyond++) {
          String text = changed(limit.get(beyond));
          String what = text.substring(0, Math.min(text.length(), 2000));
          Throwable refused = catchThrowable(() -> HandleJson.parse(text));
          if (beyond == 0) {
            assertThat(refused).as(what).isNull();
          } else {
            assertThat(refused).as(what).isInstanceOf(IllegalArgumentException.class);
          }
          if (tool != null) {
            Throwable inC =
                catchThrowable(() -> tool.close(tool.open(text, ReaderTool.PORTS_ONLY)));
            assertThat(inC instanceof ReaderTool.Failure failure ? failure.code() : 0)
                .as("%s in C of %s", inC, what)
                .isEqualTo(beyond == 0 ? 0 : ReaderTool.INVALID_HANDLE);
          }
        }
      }
    }
  }

  @Test
  void readerInCHasTheDigestOfTheSchema() throws Exception {
    Needed.check("libddstore_reader", ReaderTool.PROGRAM.toFile().canExecute(), () -> "not built");
    try (ReaderTool tool = ReaderTool.start(ReaderTool.PROGRAM)) {
      int reader = tool.open(HandleJson.write(handle), ReaderTool.PORTS_ONLY);
      assertThat(tool.schemaDigest(reader)).isEqualTo(EpochState.digestOf(SCHEMA));
    }
  }

  @Test
  void writesNothingThatReadersRefuse() {
    assertThatThrownBy(() -> HandleJson.write(handle("x".repeat(1001))))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage(
            "store \"train\" cannot have a handle as text, because readers would refuse it:"
                + " handle.noPort: 1,001 bytes: at most 1,000 are legal");
  }

  /** A user-defined type names a class, of which Spark makes an object. */
  @Test
  void loadsNoClassOfAText() {
    String defined =
        "{\"type\":\"udt\",\"class\":\"%s\",\"pyClass\":null,\"sqlType\":\"binary\"}"
            .formatted(Loaded.class.getName());
    String struct =
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"x\",\"type\":%s,\"nullable\":true,\"metadata\":{}}]}"
            .formatted(defined);
    for (String text :
        List.of(
            changed(json -> json.put("sourceSchema", struct)),
            changed(json -> ((ObjectNode) json.get("columns").get(0)).put("type", defined)))) {
      assertThatThrownBy(() -> HandleJson.parse(text)).hasMessageEndingWith("a user-defined type");
    }
    assertThat(Loaded.made).isZero();
  }

  static final class Loaded {
    static int made;

    Loaded() {
      made++;
    }
  }

  @Test
  void refusesTextsThatOverloadTheParser() {
    for (String text : List.of("[".repeat(100_000), "9".repeat(5000), "[".repeat(65 << 20))) {
      assertThatThrownBy(() -> HandleJson.parse(text)).isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void replacesAFileThatOnlyItsUserCanRead(@TempDir Path folder) throws IOException {
    Path path = folder.resolve("train.json");
    Files.writeString(path, "former");
    HandleText.save(handle, path);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
        .isEqualTo("rw-------");
    assertEqual(HandleText.read(path), handle);
    try (Stream<Path> files = Files.list(folder)) {
      assertThat(files).containsExactly(path);
    }
    assertThatThrownBy(() -> HandleText.save(handle, folder.resolve("none/train.json")))
        .isInstanceOf(IOException.class);
  }
}
