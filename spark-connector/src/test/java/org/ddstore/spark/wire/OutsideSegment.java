// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import org.ddstore.memory.BootId;
import org.ddstore.memory.Nonce;
import org.ddstore.memory.Segment;
import org.ddstore.spark.wire.connection.ReadClaims;
import org.ddstore.spark.wire.connection.ReadKey;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.types.Field;
import org.ddstore.types.ProcessAddress;
import org.ddstore.types.Schema;

/**
 * What a handle says of a segment, and handles of segments, written as {@code docs/handle.md} says
 * and not by the code of the product.
 *
 * @param path file to map, or null
 * @param port data port of the owner, or null
 */
record OutsideSegment(
    Nonce nonce, Schema schema, long rows, long bytes, String path, ProcessAddress port) {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  /** Returns a handle whose rows are those of these segments. */
  static String handle(StoreToken token, String label, List<OutsideSegment> segments) {
    ObjectNode handle = MAPPER.createObjectNode();
    handle.put("format", "ddstore-handle").put("version", 1);
    handle.put("name", "contract").put("store", token.id().toString()).put("state", 1);
    handle.put("rows", segments.stream().mapToLong(OutsideSegment::rows).sum());
    Schema schema = segments.get(0).schema();
    handle.put("recordBytes", schema.isFixed() ? schema.fixedBytes() : 0);
    putFields(handle.putArray("fields"), schema);
    List<ProcessAddress> ports = new ArrayList<>();
    ArrayNode copy = handle.put("ranks", segments.size()).putArray("copies").addArray();
    long firstRow = 0;
    for (OutsideSegment segment : segments) {
      segment.put(copy.addObject().put("firstRow", firstRow).put("rank", copy.size() - 1), ports);
      firstRow += segment.rows();
    }
    ArrayNode processes = handle.putArray("processes");
    for (ProcessAddress port : ports) {
      String id = HexFormat.of().toHexDigits(port.id());
      processes.addObject().put("host", port.host()).put("port", port.port()).put("id", id);
    }
    if (ports.isEmpty()) {
      handle.put("noPort", "the rows are read by memory");
    }
    ReadClaims claims = new ReadClaims(token.id(), label, ReadClaims.NEVER);
    String key = HexFormat.of().formatHex(ReadKey.derive(token, claims).toBytes());
    handle.putObject("grant").put("label", label).putNull("expiresMs").put("key", key);
    return handle.toString();
  }

  private static void putFields(ArrayNode fields, Schema schema) {
    for (Field field : schema.fields()) {
      ObjectNode json = fields.addObject().put("name", field.name());
      json.put("kind", field.kind().name().toLowerCase(Locale.ROOT));
      json.put("dtype", field.dtype().name().toLowerCase(Locale.ROOT));
      ArrayNode shape = json.putArray("shape");
      for (int dimension : field.shape()) {
        shape.add(dimension);
      }
    }
  }

  private void put(ObjectNode json, List<ProcessAddress> ports) {
    json.put("rows", rows).put("bytes", bytes).put("nonce", nonce.toString());
    json.put("boot", BootId.ofThisHost().toString()).put("path", path).put("owner", "contract");
    if (port == null) {
      json.putNull("process");
      return;
    }
    if (!ports.contains(port)) {
      ports.add(port);
    }
    json.put("process", ports.indexOf(port));
  }

  /** Returns what {@link #parse} reads. */
  static ByteBuffer toBytes(Segment segment, String path, int port) {
    byte[] schema = segment.schema().toBytes();
    byte[] name = path.getBytes(StandardCharsets.UTF_8);
    ByteBuffer out = ByteBuffer.allocate(2 * Long.BYTES + 2 * Integer.BYTES + name.length);
    out.putLong(segment.rows()).putLong(segment.dataBytes()).putInt(port);
    out.putInt(name.length).put(name).flip();
    return ByteBuffer.allocate(out.remaining() + schema.length).put(out).put(schema).flip();
  }

  /**
   * @param owner address of the owner, whose host has the data port
   */
  static OutsideSegment parse(Nonce nonce, ProcessAddress owner, ByteBuffer in) {
    long rows = in.getLong();
    long bytes = in.getLong();
    int port = in.getInt();
    byte[] name = new byte[in.getInt()];
    in.get(name);
    return new OutsideSegment(
        nonce,
        Schema.parse(in.slice().order(ByteOrder.LITTLE_ENDIAN)),
        rows,
        bytes,
        name.length == 0 ? null : new String(name, StandardCharsets.UTF_8),
        port == 0 ? null : new ProcessAddress(owner.host(), port, owner.id()));
  }
}
