// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.UserDefinedType;
import org.ddstore.Catalog;
import org.ddstore.memory.BootId;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.job.StartedRank;
import org.ddstore.spark.types.ColumnMapping;
import org.ddstore.spark.wire.connection.ReadClaims;
import org.ddstore.spark.wire.connection.ReadKey;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.ProcessAddress;
import org.ddstore.types.Schema;

/**
 * An {@link OutsideHandle} as JSON, described in docs/handle.md. The text is treated as hostile:
 * each number, text and reference is checked, and unknown members are ignored.
 */
final class HandleJson {
  /** Maximum size of a handle in UTF-8: 100,000 segments take about half of it. */
  static final int MAX_BYTES = 64 << 20;

  private static final int MAX_NAME_BYTES = 1000;
  private static final int MAX_TYPE_BYTES = 16 << 20; // Jackson refuses 20 million characters
  private static final int MAX_HOST_BYTES = 255;
  private static final int MAX_PATH_BYTES = 4096;
  private static final int MAX_OWNER_BYTES = 300;
  private static final int MAX_DIGEST_BYTES = 200;
  private static final String FORMAT = "ddstore-handle";
  private static final int VERSION = 1;
  private static final int MAX_PORT = 65_535;
  private static final Pattern HOST = Pattern.compile("[A-Za-z0-9._:%-]{1,255}");
  private static final HexFormat HEX = HexFormat.of();
  private static final JsonMapper MAPPER =
      JsonMapper.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  private HandleJson() {}

  static String write(OutsideHandle handle) {
    ObjectNode json = MAPPER.createObjectNode();
    json.put("format", FORMAT).put("version", VERSION);
    json.put("name", handle.name()).put("store", handle.claims().store().toString());
    json.put("state", handle.version()).put("rows", handle.rows()).put("digest", handle.digest());
    Schema schema = handle.schema();
    json.put("recordBytes", schema.isFixed() ? schema.fixedBytes() : 0);
    putFields(json.putArray("fields"), schema);
    putColumns(json, handle);
    Map<ProcessAddress, Integer> processes = new LinkedHashMap<>();
    List<Catalog> catalogs = handle.catalogs();
    ArrayNode copies = MAPPER.createArrayNode();
    for (Catalog catalog : catalogs) {
      putSegments(copies.addArray(), catalog, processes);
    }
    json.put("ranks", catalogs.get(0).ranks());
    ArrayNode ends = json.putArray("processes");
    for (ProcessAddress process : processes.keySet()) {
      ends.addObject()
          .put("host", withoutBrackets(process.host()))
          .put("port", process.port())
          .put("id", hex(process.id()));
    }
    if (!handle.problem().isEmpty()) {
      json.put("noPort", handle.problem());
    }
    json.set("copies", copies);
    ReadClaims claims = handle.claims();
    ObjectNode grant = json.putObject("grant").put("label", claims.label());
    if (claims.expiresMs() == ReadClaims.NEVER) {
      grant.putNull("expiresMs");
    } else {
      grant.put("expiresMs", claims.expiresMs());
    }
    grant.put("key", HEX.formatHex(handle.key().toBytes()));
    try {
      String text = MAPPER.writeValueAsString(json);
      parse(text); // readers have the same limits
      return text;
    } catch (JsonProcessingException | IllegalArgumentException e) {
      throw new IllegalStateException(
          "store \"%s\" cannot have a handle as text, because readers would refuse it: %s"
              .formatted(handle.name(), e.getMessage()),
          e);
    }
  }

  private static void putFields(ArrayNode fields, Schema schema) {
    for (Field field : schema.fields()) {
      ObjectNode entry = fields.addObject().put("name", field.name());
      entry.put("kind", field.kind().name().toLowerCase(Locale.ROOT));
      entry.put("dtype", field.dtype().toString().toLowerCase(Locale.ROOT));
      ArrayNode shape = entry.putArray("shape");
      for (int dimension : field.shape()) {
        shape.add(dimension);
      }
    }
  }

  private static void putColumns(ObjectNode json, OutsideHandle handle) {
    json.put("sourceSchema", plain(handle.sourceSchema()).json());
    ArrayNode columns = json.putArray("columns");
    for (ColumnMapping column : handle.columns()) {
      ObjectNode entry = columns.addObject();
      ArrayNode path = entry.putArray("path");
      column.path().forEach(path::add);
      entry.put("type", plain(column.type()).json());
      ArrayNode fields = entry.putArray("fields");
      column.fields().forEach(fields::add);
    }
  }

  /** Replaces user-defined types by the types of their values: readers do not have the classes. */
  private static DataType plain(DataType type) {
    if (type instanceof UserDefinedType<?> defined) {
      return plain(defined.sqlType());
    }
    if (type instanceof ArrayType array) {
      return new ArrayType(plain(array.elementType()), array.containsNull());
    }
    if (type instanceof MapType map) {
      return new MapType(plain(map.keyType()), plain(map.valueType()), map.valueContainsNull());
    }
    if (type instanceof StructType struct) {
      StructField[] fields = struct.fields();
      for (int f = 0; f < fields.length; f++) {
        fields[f] =
            new StructField(
                fields[f].name(),
                plain(fields[f].dataType()),
                fields[f].nullable(),
                fields[f].metadata());
      }
      return new StructType(fields);
    }
    return type;
  }

  private static void putSegments(
      ArrayNode segments, Catalog catalog, Map<ProcessAddress, Integer> processes) {
    long first = 0;
    int number = 0;
    for (SegmentAddress segment : catalog.segments(StartedRank.ROWS)) {
      ObjectNode entry = segments.addObject();
      entry.put("firstRow", first).put("rows", segment.rows());
      entry.put("rank", number % catalog.ranks()).put("owner", segment.process());
      entry.put("bytes", segment.dataBytes()).put("nonce", segment.nonce().toString());
      entry.put("boot", hex(segment.host().bits())).put("path", segment.path());
      ProcessAddress process = segment.endpoint();
      if (process == null) {
        entry.putNull("process");
      } else {
        entry.put("process", processes.computeIfAbsent(process, p -> processes.size()));
      }
      first += segment.rows();
      number++;
    }
  }

  /** Returns the address itself: Spark has IPv6 addresses in brackets. */
  private static String withoutBrackets(String host) {
    return host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
  }

  private static String hex(long bits) {
    return "%016x".formatted(bits);
  }

  /**
   * Returns the handle of a text.
   *
   * @throws IllegalArgumentException if the text is no handle, or of an unknown version; the
   *     message names the member and contains no key
   */
  static OutsideHandle parse(String text) {
    checkSize(text.length() > MAX_BYTES ? text.length() : utf8Bytes(text));
    JsonNode json;
    try {
      json = MAPPER.readTree(text);
    } catch (JsonProcessingException e) { // its message can show a part of the text
      JsonLocation at = e.getLocation();
      throw new IllegalArgumentException(
          at == null // of a limit of the parser
              ? "this is no handle of a store: too deep, or a number that is too long"
              : "this is no handle of a store: no JSON at line %d, column %d"
                  .formatted(at.getLineNr(), at.getColumnNr()));
    }
    Member root = new Member(json, "handle");
    if (!json.path("format").asText().equals(FORMAT)) {
      throw new IllegalArgumentException(
          "this is no handle of a store: format is not \"%s\"".formatted(FORMAT));
    }
    long version = root.of("version").number(0, Integer.MAX_VALUE);
    if (version != VERSION) {
      throw new IllegalArgumentException(
          "handle version %d: this release reads version %d".formatted(version, VERSION));
    }
    try {
      return handle(root);
    } catch (IllegalArgumentException e) {
      throw e;
    } catch (Exception | StackOverflowError e) { // Spark's parser of types throws all kinds
      throw new IllegalArgumentException("this handle contradicts itself: " + e, e);
    }
  }

  /** Throws if a handle of this size is illegal. */
  static void checkSize(long bytes) {
    if (bytes > MAX_BYTES) {
      throw new IllegalArgumentException(
          "a handle of %,d bytes or more: at most %,d are legal".formatted(bytes, MAX_BYTES));
    }
  }

  private static int utf8Bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8).length;
  }

  private static OutsideHandle handle(Member root) {
    Nonce store = nonce(root.of("store"));
    Schema schema = schema(root.of("fields"));
    root.of("recordBytes").checkEqual(schema.isFixed() ? schema.fixedBytes() : 0);
    long rows = root.of("rows").number(0, Long.MAX_VALUE);
    int ranks = (int) root.of("ranks").number(1, Integer.MAX_VALUE);
    List<ProcessAddress> processes = root.of("processes").list(HandleJson::process);
    List<Catalog> catalogs = new ArrayList<>();
    for (Member copy : root.of("copies").elements()) {
      List<SegmentAddress> segments = new ArrayList<>();
      long first = 0;
      long bytes = 0;
      for (Member segment : copy.elements()) {
        segment.of("firstRow").checkEqual(first);
        segment.of("rank").checkEqual(segments.size() % ranks);
        SegmentAddress address = segment(segment, processes);
        first = Math.addExact(first, address.rows());
        bytes = Math.addExact(bytes, address.dataBytes());
        segments.add(address);
      }
      if (first != rows) {
        throw copy.illegal("%,d rows, the handle has %,d".formatted(first, rows));
      }
      if (!catalogs.isEmpty() && !rowsOf(segments).equals(rowsOf(firstCopy(catalogs)))) {
        throw copy.illegal("its segments have other rows than those of the first copy");
      }
      catalogs.add(Catalog.of(ranks, StartedRank.ROWS, schema, segments));
    }
    if (catalogs.isEmpty()) {
      throw root.of("copies").illegal("empty");
    }
    Member grant = root.of("grant");
    long expiresMs =
        grant.of("expiresMs").isNull()
            ? ReadClaims.NEVER
            : grant.of("expiresMs").number(0, Long.MAX_VALUE - 1);
    return new OutsideHandle(
        root.of("name").text(MAX_NAME_BYTES),
        root.of("state").number(0, Long.MAX_VALUE),
        rows,
        (StructType) type(root.of("sourceSchema")),
        root.of("columns").list(HandleJson::column),
        catalogs,
        root.of("digest").text(MAX_DIGEST_BYTES),
        new ReadClaims(store, grant.of("label").text(64), expiresMs),
        new ReadKey(grant.of("key").hex(ReadKey.BYTES)),
        root.has("noPort") ? root.of("noPort").text(MAX_NAME_BYTES) : "");
  }

  private static List<SegmentAddress> firstCopy(List<Catalog> catalogs) {
    return catalogs.get(0).segments(StartedRank.ROWS);
  }

  private static List<Long> rowsOf(List<SegmentAddress> segments) {
    return segments.stream().map(SegmentAddress::rows).toList();
  }

  private static Schema schema(Member fields) {
    return Schema.of(
        fields
            .list(
                field -> {
                  String name = field.of("name").text(MAX_NAME_BYTES);
                  DType dtype = field.of("dtype").choice(DType.class);
                  int[] shape =
                      field.of("shape").list(d -> (int) d.number(1, Integer.MAX_VALUE)).stream()
                          .mapToInt(Integer::intValue)
                          .toArray();
                  return switch (field.of("kind").choice(Field.Kind.class)) {
                    case FIXED -> Field.fixed(name, dtype, shape);
                    case RAGGED -> Field.ragged(name, dtype, shape);
                    case STRING -> Field.string(name);
                    case BYTES -> Field.bytes(name);
                  };
                })
            .toArray(Field[]::new));
  }

  /**
   * Returns a type. Spark would load the class that a user-defined type names, and make an object.
   */
  private static DataType type(Member member) {
    String text = member.text(MAX_TYPE_BYTES);
    try {
      checkNoClass(member, MAPPER.readTree(text));
    } catch (JsonProcessingException e) {
      throw member.illegal("no type");
    }
    return DataType.fromJson(text);
  }

  private static void checkNoClass(Member member, JsonNode type) {
    if (type.path("type").asText().equals("udt")) {
      throw member.illegal("a user-defined type");
    }
    type.forEach(part -> checkNoClass(member, part)); // the parser limits the depth
  }

  private static ColumnMapping column(Member column) {
    return new ColumnMapping(
        column.of("path").list(part -> part.text(MAX_NAME_BYTES)),
        type(column.of("type")),
        column.of("fields").list(field -> field.text(MAX_NAME_BYTES)));
  }

  private static ProcessAddress process(Member process) {
    String host = process.of("host").text(MAX_HOST_BYTES);
    if (!HOST.matcher(host).matches()) {
      throw process.of("host").illegal("no name or address of a host");
    }
    return new ProcessAddress(
        host, (int) process.of("port").number(1, MAX_PORT), bits(process.of("id")));
  }

  private static SegmentAddress segment(Member segment, List<ProcessAddress> processes) {
    Member process = segment.of("process");
    Member path = segment.of("path");
    return new SegmentAddress(
        nonce(segment.of("nonce")),
        new BootId(bits(segment.of("boot"))),
        path.isNull() ? null : path.text(MAX_PATH_BYTES),
        segment.of("rows").number(0, Long.MAX_VALUE),
        segment.of("bytes").number(0, Long.MAX_VALUE),
        segment.of("owner").text(MAX_OWNER_BYTES),
        process.isNull() ? null : processes.get((int) process.number(0, processes.size() - 1L)));
  }

  private static Nonce nonce(Member member) {
    byte[] bytes = member.hex(2 * Long.BYTES);
    return Nonce.read(ByteBuffer.wrap(bytes), 0);
  }

  private static long bits(Member member) {
    return ByteBuffer.wrap(member.hex(Long.BYTES)).getLong();
  }

  /** A member of the document, with its path for messages. */
  private record Member(JsonNode json, String path) {
    Member of(String name) {
      return new Member(json.path(name), path + "." + name);
    }

    boolean has(String name) {
      return json.has(name);
    }

    boolean isNull() {
      return json.isNull();
    }

    IllegalArgumentException illegal(String problem) {
      return new IllegalArgumentException("%s: %s".formatted(path, problem));
    }

    long number(long min, long max) {
      if (!json.isIntegralNumber() || !json.canConvertToLong()) {
        throw illegal("no whole number");
      }
      long number = json.longValue();
      if (number < min || number > max) {
        throw illegal("%,d outside [%,d, %,d]".formatted(number, min, max));
      }
      return number;
    }

    void checkEqual(long expected) {
      long number = number(Long.MIN_VALUE, Long.MAX_VALUE);
      if (number != expected) {
        throw illegal("%,d instead of %,d".formatted(number, expected));
      }
    }

    String text(int maxBytes) {
      if (!json.isTextual()) {
        throw illegal("no text");
      }
      String text = json.textValue();
      if (utf8Bytes(text) > maxBytes) {
        throw illegal("%,d bytes: at most %,d are legal".formatted(utf8Bytes(text), maxBytes));
      }
      if (text.indexOf('\0') >= 0) {
        throw illegal("a zero byte");
      }
      return text;
    }

    byte[] hex(int bytes) {
      String text = text(2 * bytes);
      if (text.length() != 2 * bytes || !text.matches("[0-9a-f]*")) {
        throw illegal("not %d hexadecimal digits".formatted(2 * bytes));
      }
      return HEX.parseHex(text);
    }

    <E extends Enum<E>> E choice(Class<E> type) {
      String text = text(20);
      for (E value : type.getEnumConstants()) {
        if (value.name().toLowerCase(Locale.ROOT).equals(text)) {
          return value;
        }
      }
      throw illegal("\"%s\" is unknown".formatted(text));
    }

    List<Member> elements() {
      if (!json.isArray()) {
        throw illegal("no array");
      }
      List<Member> all = new ArrayList<>(json.size());
      for (int i = 0; i < json.size(); i++) {
        all.add(new Member(Objects.requireNonNull(json.get(i)), "%s[%d]".formatted(path, i)));
      }
      return all;
    }

    <T> List<T> list(Function<Member, T> each) {
      return elements().stream().map(each).toList();
    }
  }
}
