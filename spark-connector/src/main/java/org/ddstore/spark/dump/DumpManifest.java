// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.dump;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.ddstore.memory.RowDigest;
import org.ddstore.spark.ingest.IngestOptions;
import org.ddstore.spark.ingest.SavedOptions;
import org.ddstore.spark.types.ColumnMapping;
import org.ddstore.types.Schema;

/**
 * The manifest of a dump: what a restore needs to know. As bytes: one line of JSON, and a line with
 * the CRC-32C of the first one as eight hexadecimal digits.
 *
 * @param folder folder of the data files in the directory of the dump
 * @param sourceSchema columns of the DataFrame that the store was loaded from
 * @param columns fields of each leaf of the source schema
 * @param options options by which rows become records, for rows that are appended later
 * @param files data files, in the order of their rows
 */
record DumpManifest(
    String store,
    String folder,
    String digest,
    Schema schema,
    StructType sourceSchema,
    List<ColumnMapping> columns,
    IngestOptions options,
    List<DumpedFile> files) {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final String FORMAT = "ddstore-dump";
  private static final int VERSION = 1;
  private static final int CRC_DIGITS = 8;
  private static final String BEGIN = "{\"format\":\"%s\"".formatted(FORMAT);
  private static final Pattern CHECKSUM = Pattern.compile("[0-9a-f]{%d}".formatted(CRC_DIGITS));

  /** The exception of bytes that are not a complete manifest. */
  static final class NotAManifestException extends Exception {
    private static final long serialVersionUID = 1L;

    private final boolean isForeign;

    NotAManifestException(String message, boolean isForeign, Throwable cause) {
      super(message, cause);
      this.isForeign = isForeign;
    }

    /** Returns whether the bytes are not a manifest, or one of an unknown version. */
    boolean isForeign() {
      return isForeign;
    }
  }

  DumpManifest {
    columns = List.copyOf(columns);
    files = List.copyOf(files);
  }

  long rows() {
    return files.stream().mapToLong(DumpedFile::rows).sum();
  }

  long bytes() {
    return files.stream().mapToLong(DumpedFile::dataBytes).sum();
  }

  static String digestOf(List<DumpedFile> files) {
    RowDigest sum = new RowDigest();
    files.forEach(file -> sum.add(file.digestHigh(), file.digestLow()));
    return sum.toString();
  }

  byte[] toBytes() {
    ObjectNode json = MAPPER.createObjectNode();
    json.put("format", FORMAT).put("version", VERSION);
    json.put("store", store).put("rows", rows()).put("bytes", bytes());
    json.put("digest", digest).put("folder", folder);
    json.put("schemaText", schema.toString());
    json.put("schema", Base64.getEncoder().encodeToString(schema.toBytes()));
    json.put("sourceSchema", sourceSchema.json());
    ArrayNode leaves = json.putArray("columns");
    for (ColumnMapping column : columns) {
      ObjectNode leaf = leaves.addObject();
      ArrayNode path = leaf.putArray("path");
      column.path().forEach(path::add);
      leaf.put("type", column.type().json());
      ArrayNode fields = leaf.putArray("fields");
      column.fields().forEach(fields::add);
    }
    json.set("options", SavedOptions.toJson(options));
    ArrayNode entries = json.putArray("files");
    for (DumpedFile file : files) {
      entries
          .addObject()
          .put("name", file.name())
          .put("firstRow", file.firstRow())
          .put("rows", file.rows())
          .put("bytes", file.bytes())
          .put("blocks", file.blocks())
          .put("indexCrc", file.indexCrc())
          .put("digestHigh", file.digestHigh())
          .put("digestLow", file.digestLow());
    }
    try {
      String line = MAPPER.writeValueAsString(json);
      return String.join("\n", line, crc(line), "").getBytes(StandardCharsets.UTF_8);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("cannot write the manifest of store \"" + store + "\"", e);
    }
  }

  private static String crc(String line) {
    CRC32C crc = new CRC32C();
    crc.update(line.getBytes(StandardCharsets.UTF_8));
    return "%08x".formatted(crc.getValue());
  }

  /**
   * Returns the manifest of {@link #toBytes()}.
   *
   * @throws NotAManifestException if the bytes are truncated, damaged, or something else
   */
  static DumpManifest parse(byte[] bytes) throws NotAManifestException {
    String[] lines = new String(bytes, StandardCharsets.UTF_8).split("\n", -1);
    boolean hasChecksum = lines.length > 1 && CHECKSUM.matcher(lines[1]).matches();
    if (!hasChecksum && !lines[0].startsWith(BEGIN) && !BEGIN.startsWith(lines[0])) {
      throw new NotAManifestException("it is not a manifest of a dump", true, null);
    }
    if (lines.length < 2 || lines[1].length() < CRC_DIGITS) {
      throw new NotAManifestException("it is truncated", false, null);
    }
    if (!lines[1].equals(crc(lines[0]))) {
      throw new NotAManifestException("its checksum is wrong", false, null);
    }
    try {
      JsonNode json = MAPPER.readTree(lines[0]);
      if (!json.path("format").asText().equals(FORMAT) || json.path("version").asInt() != VERSION) {
        throw new NotAManifestException(
            "it has format \"%s\", version %s; this release reads \"%s\", version %d"
                .formatted(
                    json.path("format").asText(), json.path("version").asText(), FORMAT, VERSION),
            true,
            null);
      }
      return of(json);
    } catch (JsonProcessingException | RuntimeException e) {
      throw new NotAManifestException("it cannot be parsed: " + e.getMessage(), false, e);
    }
  }

  private static DumpManifest of(JsonNode json) {
    byte[] schema = Base64.getDecoder().decode(json.path("schema").asText());
    List<ColumnMapping> columns = new ArrayList<>();
    for (JsonNode leaf : json.path("columns")) {
      columns.add(
          new ColumnMapping(
              texts(leaf.path("path")),
              DataType.fromJson(leaf.path("type").asText()),
              texts(leaf.path("fields"))));
    }
    List<DumpedFile> files = new ArrayList<>();
    for (JsonNode file : json.path("files")) {
      files.add(
          new DumpedFile(
              file.path("name").asText(),
              file.path("firstRow").asLong(),
              file.path("rows").asLong(),
              file.path("bytes").asLong(),
              file.path("blocks").asInt(),
              file.path("indexCrc").asInt(),
              file.path("digestHigh").asLong(),
              file.path("digestLow").asLong()));
    }
    return new DumpManifest(
        json.path("store").asText(),
        json.path("folder").asText(),
        json.path("digest").asText(),
        Schema.parse(ByteBuffer.wrap(schema).order(ByteOrder.LITTLE_ENDIAN)),
        (StructType) DataType.fromJson(json.path("sourceSchema").asText()),
        columns,
        SavedOptions.parse(json.path("options")),
        files);
  }

  private static List<String> texts(JsonNode array) {
    List<String> texts = new ArrayList<>();
    array.forEach(text -> texts.add(text.asText()));
    return texts;
  }
}
