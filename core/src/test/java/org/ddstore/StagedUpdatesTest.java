// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.memory.Segment;
import org.ddstore.memory.SegmentWriter;
import org.ddstore.transport.Reach;
import org.ddstore.types.Backing;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.Test;

class StagedUpdatesTest {
  private static final Schema SCHEMA = Schema.of(Field.fixed("x", DType.INT64));

  private int allocations;
  private int failing;

  private OffHeapBuffer allocate(long bytes) {
    if (++allocations == failing) {
      throw new OutOfMemoryError("of a test");
    }
    return OffHeapBuffer.allocate(bytes);
  }

  private static Segment segment(int number, long... values) {
    ByteBuffer records =
        ByteBuffer.allocate(values.length * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    for (long value : values) {
      records.putLong(value);
    }
    SegmentWriter writer =
        SegmentWriter.create(Backing.DIRECT, Path.of("unused"), "staged-" + number, SCHEMA);
    writer.appendRows(records.flip());
    return writer.seal();
  }

  /** Its rows lie in two segments, each of which has a piece of the update. */
  @Test
  void failedAllocationStagesNothing() {
    long before = OffHeapBuffer.liveBytes();
    ReadGate gate = new ReadGate(this, () -> {});
    Variable variable =
        new Variable(0, "x", SCHEMA, gate, new Reach(null, true, Duration.ofSeconds(1)));
    List<Segment> segments = List.of(segment(0, 1, 2), segment(1, 3, 4));
    variable.ownSegments().addAll(segments);
    long stored = OffHeapBuffer.liveBytes();
    Tensor rows = Tensor.wrap(new long[] {7, 8});
    try (StagedUpdates staged = new StagedUpdates(this::allocate)) {
      failing = 2;
      assertThatThrownBy(() -> staged.stage(variable, rows, 1))
          .isInstanceOf(OutOfMemoryError.class);
      assertThat(OffHeapBuffer.liveBytes()).isEqualTo(stored);
      assertThat(staged.changed(List.of(variable)).isEmpty()).isTrue();
      staged.apply();
      assertThat(values(segments)).containsExactly(1L, 2L, 3L, 4L);

      staged.stage(variable, rows, 1);
      staged.apply();
      assertThat(values(segments)).containsExactly(1L, 7L, 8L, 4L);
    } finally {
      segments.forEach(Segment::release);
    }
    assertThat(OffHeapBuffer.liveBytes()).isEqualTo(before);
  }

  private static List<Long> values(List<Segment> segments) {
    return segments.stream()
        .flatMap(s -> List.of(s.chunk(0).getLong(0), s.chunk(0).getLong(Long.BYTES)).stream())
        .toList();
  }
}
