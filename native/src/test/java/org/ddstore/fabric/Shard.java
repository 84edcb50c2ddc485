// SPDX-License-Identifier: Apache-2.0
package org.ddstore.fabric;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.ddstore.layout.ExtentMap;
import org.ddstore.memory.BootId;
import org.ddstore.memory.Segment;
import org.ddstore.memory.SegmentWriter;
import org.ddstore.read.Placement;
import org.ddstore.read.ReadPlan;
import org.ddstore.transport.Reach;
import org.ddstore.transport.RemoteReader;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.types.Backing;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/** Rows whose bytes are drawn from their number: fixed ones, or ragged ones of 0 to 200 bytes. */
final class Shard implements AutoCloseable {
  private static final int MOST_BYTES = 200;

  private final long salt;
  private final Schema schema;
  private final Segment segment;

  private Shard(long salt, Schema schema, long rows) {
    this.salt = salt;
    this.schema = schema;
    try (SegmentWriter writer =
        SegmentWriter.create(Backing.DIRECT, null, "shard" + salt, schema)) {
      for (long row = 0; row < rows; row++) {
        writer.append(ByteBuffer.wrap(record(row)));
      }
      this.segment = writer.seal();
    }
  }

  static Shard fixed(long salt, int rowBytes, long rows) {
    return new Shard(salt, Schema.of(Field.fixed("x", DType.UINT8, rowBytes)), rows);
  }

  static Shard ragged(long salt, long rows) {
    return new Shard(salt, Schema.of(Field.bytes("x")), rows);
  }

  Segment segment() {
    return segment;
  }

  byte[] record(long row) {
    Random random = new Random(salt * 1_000_003 + row);
    if (schema.isFixed()) {
      byte[] record = new byte[schema.fixedBytes()];
      random.nextBytes(record);
      return record;
    }
    byte[] value = new byte[random.nextInt(MOST_BYTES)];
    random.nextBytes(value);
    return ByteBuffer.allocate(Integer.BYTES + value.length)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(value.length)
        .put(value)
        .array();
  }

  Placement seenFrom(FabricTransport reader, FabricTransport owner, int rank) {
    SegmentAddress address =
        new SegmentAddress(
            segment.nonce(),
            BootId.ofThisHost(),
            null,
            segment.rows(),
            segment.dataBytes(),
            "1@test",
            owner.local());
    Reach reach = new Reach(reader, false, Duration.ofSeconds(20));
    return new Placement(
        ExtentMap.EMPTY.append(segment.rows()), List.of(address.attach(rank, schema, reach)));
  }

  List<Long> wrong(Placement placement, RemoteReader reader, long... indices) {
    ReadPlan plan = new ReadPlan();
    try {
      reader.begin();
      plan.locate(placement, indices, 0, indices.length);
      plan.fetch(reader);
      List<Long> wrong = new ArrayList<>();
      for (int i = 0; i < indices.length; i++) {
        byte[] expected = record(indices[i]);
        byte[] got = new byte[expected.length];
        plan.source(i).get(plan.position(i), got);
        if (!Arrays.equals(expected, got)) {
          wrong.add(indices[i]);
        }
      }
      return wrong;
    } finally {
      plan.free();
    }
  }

  @Override
  public void close() {
    segment.release();
  }
}
