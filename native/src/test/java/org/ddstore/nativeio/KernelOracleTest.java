// SPDX-License-Identifier: Apache-2.0
package org.ddstore.nativeio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.ddstore.contract.Needed;
import org.ddstore.contract.TestRoots;
import org.ddstore.layout.ExtentMap;
import org.ddstore.memory.GrowingBuffer;
import org.ddstore.memory.RawAddress;
import org.ddstore.memory.Segment;
import org.ddstore.memory.SegmentWriter;
import org.ddstore.read.GatherKernel;
import org.ddstore.read.GatherKernels;
import org.ddstore.read.PackedGather;
import org.ddstore.read.Placement;
import org.ddstore.read.RaggedGather;
import org.ddstore.read.ReadPlan;
import org.ddstore.read.RecordGather;
import org.ddstore.transport.Attachment;
import org.ddstore.types.Backing;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.ReadPath;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The kernel in C against the loops over buffers, byte for byte, over random schemas and batches.
 */
class KernelOracleTest {
  private static final int[] BATCHES = {0, 1, 7, 127, 128, 129, 511, 512, 513, 530, 2000};
  private static final List<DType> TYPES = List.of(DType.values());
  private static final Path NO_ROOT = Path.of("unused");

  private final long seed = Long.getLong("ddstore.test.seed", System.nanoTime());
  private final Random random = new Random(seed);
  private final List<Segment> segments = new ArrayList<>();
  private GatherKernel kernel;

  @BeforeEach
  void open() {
    Needed.check("libddstore.so", NativeLibrary.isLoaded(), NativeLibrary::description);
    System.out.println("KernelOracleTest: -Dddstore.test.seed=" + seed);
    kernel = GatherKernels.current();
    assertThat(kernel).isInstanceOf(NativeGather.class);
    assertThat(GatherKernels.description()).startsWith("native (");
  }

  @AfterEach
  void release() {
    segments.forEach(Segment::release);
  }

  @Test
  void scattersFixedFields() {
    for (int round = 0; round < 30; round++) {
      Schema schema = fixedSchema(1 + random.nextInt(5));
      Placement placement = place(schema, 1 + random.nextInt(5));
      int[] fields = chosen(schema);
      for (int rows : BATCHES) {
        long[] indices = draw(placement, rows);
        assertThat(fixed(placement, null, schema, fields, indices))
            .as("%s of %s, %d rows", Arrays.toString(fields), schema, rows)
            .isDeepEqualTo(fixed(placement, kernel, schema, fields, indices));
      }
    }
  }

  /** More fields than the library takes in one pass, and more extents than a table holds. */
  @ParameterizedTest
  @CsvSource({"150, 3", "2, 70"})
  void scattersManyFieldsOrExtents(int fields, int extents) {
    Schema schema = fixedSchema(fields);
    Placement placement = place(schema, extents);
    long[] indices = draw(placement, 700);
    int[] all = IntStream.range(0, fields).toArray();
    assertThat(fixed(placement, null, schema, all, indices))
        .isDeepEqualTo(fixed(placement, kernel, schema, all, indices));
  }

  /**
   * Extents, chunks, record bytes, rows; then as many longs as these say, or the library says no.
   */
  @Test
  void refusesATableThatDoesNotFitItsLongs() {
    List<long[]> wrong = new ArrayList<>();
    wrong.add(new long[0]);
    wrong.add(new long[] {1, 1, 8});
    wrong.add(new long[] {1, 1, 8, 1});
    wrong.add(new long[] {65, 0, 8, 1});
    wrong.add(new long[] {Long.MAX_VALUE, 0, 8, 1});
    wrong.add(new long[] {-1, 4, 8, 1});
    wrong.add(new long[] {1, 2, 8, 1, 0, 1, 0, 0, 1});
    wrong.add(new long[] {1, -4, 8, 1});
    wrong.add(Arrays.copyOf(new long[] {65, 0, 8, 1}, 4 + 4 * 65));
    for (long[] places : wrong) {
      assertThat(NativeGather.scatterFields(places, new long[1], 0, 1, new long[3], 1, new int[64]))
          .as(Arrays.toString(places))
          .isEqualTo(-22);
    }
  }

  /** The caller has checked them, but the array may have changed since. */
  @Test
  void refusesRowsOutsideItsTable() {
    Schema schema = Schema.of(Field.fixed("x", DType.INT64));
    Placement placement = place(schema, 3);
    for (long bad :
        new long[] {-1, Long.MIN_VALUE, Long.MAX_VALUE, placement.rows(), placement.rows() + 100}) {
      for (int at : new int[] {0, 511, 512, 527, 699}) {
        long[] indices = draw(placement, 700);
        indices[at] = bad;
        assertThatThrownBy(() -> fixed(placement, kernel, schema, new int[] {0}, indices))
            .as("row %d at %d", bad, at)
            .isExactlyInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(
                () -> gather(placement, schema, 0, indices, t -> t.setArray(new long[700])))
            .as("row %d at %d", bad, at)
            .isExactlyInstanceOf(IndexOutOfBoundsException.class);
      }
    }
  }

  @Test
  void scattersIntoArrays() {
    for (int elements : new int[] {1, 64, 1000, 300_000, 700_001}) {
      Schema schema =
          Schema.of(Field.fixed("id", DType.INT8, 3), Field.fixed("x", DType.FLOAT32, elements));
      int most = elements < 10_000 ? 1000 : 5;
      Placement placement = place(schema, 2, most);
      long[] indices = draw(placement, most);
      byte[] expected = fixed(placement, null, schema, new int[] {1}, indices)[0];

      float[] floats = new float[elements * indices.length];
      gather(placement, schema, 1, indices, target -> target.setArray(floats));
      ByteBuffer bytes = ByteBuffer.allocate(expected.length).order(ByteOrder.LITTLE_ENDIAN);
      bytes.asFloatBuffer().put(floats);
      assertThat(bytes.array()).as("%d floats", elements).isEqualTo(expected);

      ByteBuffer slice = ByteBuffer.allocate(expected.length + 20).slice(13, expected.length);
      gather(placement, schema, 1, indices, target -> target.set(slice, 0));
      assertThat(slice).isEqualTo(ByteBuffer.wrap(expected));
    }
  }

  private void gather(
      Placement placement,
      Schema schema,
      int field,
      long[] indices,
      Consumer<GatherKernel.Target> aim) {
    GatherKernel.Target target = new GatherKernel.Target();
    aim.accept(target);
    ReadPlan plan = new ReadPlan(kernel);
    plan.locate(placement, indices, 0, indices.length);
    gatherOf(schema, field).copy(plan, new GatherKernel.Target[] {target}, 0);
    assertThat(plan.rowsBy(ReadPath.OWN_PROCESS.index())).isEqualTo(indices.length);
  }

  @Test
  void startsAtAnyRowOfTheTarget() {
    Schema schema = Schema.of(Field.fixed("x", DType.INT16, 5));
    Placement placement = place(schema, 2);
    long[] indices = draw(placement, 900);
    byte[] expected = fixed(placement, null, schema, new int[] {0}, indices)[0];
    ByteBuffer direct = ByteBuffer.allocateDirect(expected.length);
    GatherKernel.Target target = new GatherKernel.Target();
    target.set(direct, RawAddress.of(direct));
    ReadPlan plan = new ReadPlan(kernel);
    for (int first = 0; first < 900; first += 300) {
      plan.locate(placement, indices, first, 300);
      gatherOf(schema, 0).copy(plan, new GatherKernel.Target[] {target}, first);
    }
    assertThat(direct).isEqualTo(ByteBuffer.wrap(expected));
  }

  @Test
  void gathersRaggedFields() {
    for (int round = 0; round < 30; round++) {
      Schema schema = raggedSchema();
      Placement placement = place(schema, 1 + random.nextInt(3));
      int[] fields = chosen(schema);
      for (int rows : BATCHES) {
        long[] indices = draw(placement, rows);
        assertThat(ragged(placement, null, schema, fields, indices))
            .as("%s of %s, %d rows", Arrays.toString(fields), schema, rows)
            .isDeepEqualTo(ragged(placement, kernel, schema, fields, indices));
      }
    }
  }

  @Test
  void refusesLengthsThatContradictTheRecord() {
    Schema schema = Schema.of(Field.ragged("r", DType.INT32));
    Placement placement = place(schema, 1);
    Segment segment = placement.segment(0);
    long[] indices = {3, 9, 5};
    long place = segment.place(9);
    ByteBuffer chunk = segment.chunk(Segment.chunkOf(place));
    chunk.putInt(Segment.positionOf(place), 1 << 29);
    assertThatThrownBy(() -> ragged(placement, kernel, schema, new int[] {0}, indices))
        .isInstanceOf(DDStoreException.class)
        .hasMessageContaining("row number 1 of the batch");
  }

  @Test
  void packsRecordsOfRuns() {
    for (Schema schema : List.of(fixedSchema(3), raggedSchema())) {
      Segment segment = place(schema, 1).segment(0);
      for (int room : new int[] {0, 1, 100, 5000, 100_000}) {
        assertPacks(segment, room);
      }
    }
  }

  /** Records that may come from a disk go through blocks, which small rooms do not fill. */
  @Test
  void packsRecordsOfFiles() throws IOException {
    Path root = TestRoots.onDisk();
    try {
      for (Schema schema : List.of(fixedSchema(3), raggedSchema())) {
        Segment segment = segment(Backing.FILE, root, schema, 300, segments.size());
        segments.add(segment);
        assertThat(segment.isPaged()).isTrue();
        for (int room : new int[] {0, 1, 100, 5000, 16 << 10, 100_000}) {
          assertPacks(segment, room);
        }
      }
    } finally {
      release();
      segments.clear();
      TestRoots.delete(root);
    }
  }

  private void assertPacks(Segment segment, int room) {
    byte[] expected = packed(segment, null, room, false);
    assertThat(packed(segment, kernel, room, false)).isEqualTo(expected);
    assertThat(packed(segment, kernel, room, true)).isEqualTo(expected);
    assertThat(packed(segment, null, room, true)).isEqualTo(expected);
  }

  private byte[] packed(Segment segment, GatherKernel by, int room, boolean direct) {
    Random parts = new Random(seed);
    ByteBuffer memory =
        direct ? ByteBuffer.allocateDirect(room + 10) : ByteBuffer.allocate(room + 10);
    ByteBuffer target = memory.position(3).limit(3 + room).slice();
    PackedGather gather = new PackedGather(by);
    gather.begin(target);
    for (int part = 0; part < 600; part++) {
      int row = parts.nextInt((int) segment.rows());
      int skip = parts.nextInt(segment.recordBytes(row) + 1);
      int bytes = parts.nextInt(segment.recordBytes(row) - skip + 1);
      gather.add(segment, row, skip, Math.min(bytes, gather.room()));
      if (part % 50 == 0) {
        gather.flush();
      }
    }
    gather.flush();
    byte[] all = new byte[room + 10];
    memory.clear().get(all);
    return all;
  }

  /** Only the rows that were read decide whether a batch is whole. */
  @Test
  void checksTheVersionsOfTheRowsRead() {
    Schema schema = Schema.of(Field.fixed("x", DType.INT64));
    Placement placement = place(schema, 2);
    Segment second = placement.segment(1);
    for (int rows : new int[] {5, 500}) {
      long[] ofFirst = random.longs(rows, 0, placement.extents().rows(0)).toArray();
      long[] ofSecond =
          random.longs(rows, placement.extents().firstRow(1), placement.rows()).toArray();
      second.beginChange();
      assertThat(stable(placement, schema, ofFirst)).as("%d rows of another rank", rows).isTrue();
      assertThat(stable(placement, schema, ofSecond)).as("%d changing rows", rows).isFalse();
      second.endChange();
      assertThat(stable(placement, schema, ofSecond)).as("%d rows at rest", rows).isTrue();
    }
  }

  private boolean stable(Placement placement, Schema schema, long[] indices) {
    ReadPlan plan = new ReadPlan(kernel);
    try (GrowingBuffer memory = new GrowingBuffer()) {
      GatherKernel.Target target = new GatherKernel.Target();
      target.set(memory, (long) indices.length * Long.BYTES);
      plan.locate(placement, indices, 0, indices.length);
      gatherOf(schema, 0).copy(plan, new GatherKernel.Target[] {target}, 0);
    }
    assertThat(plan.changingRank()).isEqualTo(plan.isStable() ? -1 : 1);
    return plan.isStable();
  }

  private static RecordGather.Fixed gatherOf(Schema schema, int... fields) {
    return new RecordGather.Fixed(schema, fields);
  }

  private static byte[][] fixed(
      Placement placement, GatherKernel by, Schema schema, int[] fields, long... indices) {
    byte[][] all = new byte[fields.length][];
    GrowingBuffer[] memory = new GrowingBuffer[fields.length];
    GatherKernel.Target[] targets = new GatherKernel.Target[fields.length];
    for (int f = 0; f < fields.length; f++) {
      all[f] = new byte[indices.length * schema.field(fields[f]).bytes()];
      memory[f] = new GrowingBuffer();
      targets[f] = new GatherKernel.Target();
      targets[f].set(memory[f], all[f].length);
    }
    ReadPlan plan = new ReadPlan(by);
    plan.locate(placement, indices, 0, indices.length);
    gatherOf(schema, fields).copy(plan, targets, 0);
    assertThat(plan.isStable()).isTrue();
    assertThat(plan.rowsBy(ReadPath.OWN_PROCESS.index())).isEqualTo(indices.length);
    for (int f = 0; f < fields.length; f++) {
      memory[f].buffer().get(0, all[f]);
      memory[f].close();
    }
    return all;
  }

  private static byte[][] ragged(
      Placement placement, GatherKernel by, Schema schema, int[] fields, long... indices) {
    int[] wanted = Arrays.stream(fields).filter(f -> schema.field(f).isRagged()).toArray();
    GrowingBuffer[] memory = new GrowingBuffer[2 * wanted.length];
    GatherKernel.Target[] offsets = new GatherKernel.Target[wanted.length];
    GatherKernel.Target[] values = new GatherKernel.Target[wanted.length];
    for (int f = 0; f < wanted.length; f++) {
      memory[f] = new GrowingBuffer();
      memory[wanted.length + f] = new GrowingBuffer();
      offsets[f] = new GatherKernel.Target();
      offsets[f].set(memory[f], (indices.length + 1L) * Long.BYTES);
      values[f] = new GatherKernel.Target();
    }
    try {
      RaggedGather gather = new RaggedGather(schema, fields);
      ReadPlan plan = new ReadPlan(by);
      plan.locate(placement, indices, 0, indices.length);
      long[] totals = new long[wanted.length];
      gather.measure(plan, offsets, totals);
      byte[][] all = new byte[2 * wanted.length][];
      for (int f = 0; f < wanted.length; f++) {
        int bytes = (int) totals[f] * schema.field(wanted[f]).bytes();
        values[f].set(memory[wanted.length + f], bytes);
        all[f] = new byte[(indices.length + 1) * Long.BYTES];
        all[wanted.length + f] = new byte[bytes];
      }
      gather.copy(plan, offsets, values);
      for (int i = 0; i < all.length; i++) {
        memory[i].buffer().get(0, all[i]);
      }
      return all;
    } finally {
      for (GrowingBuffer buffer : memory) {
        buffer.close();
      }
    }
  }

  private int[] chosen(Schema schema) {
    List<Integer> all = new ArrayList<>(IntStream.range(0, schema.size()).boxed().toList());
    Collections.shuffle(all, random);
    return all.stream().limit(1 + random.nextInt(schema.size())).mapToInt(f -> f).toArray();
  }

  private Schema fixedSchema(int fields) {
    List<Field> all = new ArrayList<>();
    for (int f = 0; f < fields; f++) {
      DType dtype = TYPES.get(random.nextInt(TYPES.size()));
      all.add(Field.fixed("f" + f, dtype, 1 + random.nextInt(fields > 10 ? 4 : 400)));
    }
    return Schema.of(all);
  }

  private Schema raggedSchema() {
    List<Field> all = new ArrayList<>();
    int fields = 1 + random.nextInt(6);
    for (int f = 0; f < fields; f++) {
      DType dtype = TYPES.get(random.nextInt(TYPES.size()));
      all.add(
          f == 0 || random.nextBoolean()
              ? Field.ragged("f" + f, dtype, 1 + random.nextInt(3))
              : Field.fixed("f" + f, dtype, 1 + random.nextInt(9)));
    }
    return Schema.of(all);
  }

  private long[] draw(Placement placement, int rows) {
    return random.longs(rows, 0, placement.rows()).toArray();
  }

  private Placement place(Schema schema, int extents) {
    return place(schema, extents, 300);
  }

  private Placement place(Schema schema, int extents, int rows) {
    List<Attachment> attachments = new ArrayList<>();
    long[] sizes = new long[extents];
    for (int e = 0; e < extents; e++) {
      sizes[e] = rows / 2 + 7L + random.nextInt(rows);
      Segment segment = segment(Backing.DIRECT, NO_ROOT, schema, sizes[e], e);
      segments.add(segment);
      attachments.add(new Attachment(segment, null, ReadPath.OWN_PROCESS, () -> "a test"));
    }
    return new Placement(ExtentMap.EMPTY.append(sizes), attachments);
  }

  private Segment segment(Backing backing, Path root, Schema schema, long rows, int number) {
    SegmentWriter writer = SegmentWriter.create(backing, root, "kernel-oracle-" + number, schema);
    for (long row = 0; row < rows; row++) {
      int[] lengths = new int[schema.raggedFields()];
      int bytes = schema.prefixBytes();
      int ragged = 0;
      for (Field field : schema.fields()) {
        if (field.isRagged()) {
          lengths[ragged] = random.nextInt(4) * random.nextInt(10);
          bytes += lengths[ragged++] * field.bytes();
        }
      }
      byte[] record = new byte[bytes];
      random.nextBytes(record);
      ByteBuffer packed = ByteBuffer.wrap(record).order(ByteOrder.LITTLE_ENDIAN);
      for (int r = 0; r < lengths.length; r++) {
        packed.putInt(schema.fixedBytes() + r * Integer.BYTES, lengths[r]);
      }
      writer.append(packed);
    }
    return writer.seal();
  }
}
