package org.ddstore.loader;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.ddstore.Batch;
import org.ddstore.ReadStatistics;
import org.ddstore.Reader;
import org.ddstore.Tensor;
import org.ddstore.memory.GrowingBuffer;
import org.ddstore.sampling.SampleSpace;
import org.ddstore.types.Cleanup;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.ReadPath;
import org.ddstore.types.Schema;

/**
 * The memory of one batch, used again for others: planned, read, given out and given back. It
 * belongs to one thread at a time; the pipeline hands it on.
 */
final class Slot {
  private static final long UNKNOWN = -1;

  private final Recipe recipe;
  private final BatchPlan plan = new BatchPlan();
  private final Map<String, GrowingBuffer[]> converted = new LinkedHashMap<>();
  private final Map<String, GrowingBuffer> allocated = new LinkedHashMap<>();
  private final Map<String, Tensor> tensors = new LinkedHashMap<>();
  private GrowingBuffer weights;
  private long[] rows = new long[0];
  private Reader reader;
  private final ReadStatistics[] counted = new ReadStatistics[ReadPath.values().length];
  private Batch read;
  private long fetchedRowBytes;
  private long takenBytes;
  private long presentBytes = UNKNOWN;

  Slot(Recipe recipe) {
    this.recipe = recipe;
    this.weights = newBuffer();
  }

  private GrowingBuffer newBuffer() {
    return new GrowingBuffer(recipe.memory());
  }

  /** The samples of the next batch, to be filled in. */
  BatchPlan plan() {
    return plan;
  }

  /** Finds the rows of the plan, which is made. */
  void locate() {
    checkSamples();
    int count = plan.size() * recipe.space().rowsPerSample();
    if (rows.length != count) {
      rows = new long[count]; // a reader takes an array of exactly its rows
    }
    recipe.space().allRows(plan.samples(), plan.size(), rows);
  }

  /** A number of no sample may have rows that there are; that of no row is refused by the read. */
  private void checkSamples() {
    if (recipe.space() == SampleSpace.ROWS) {
      return;
    }
    long all = recipe.space().samples(recipe.variable().rows());
    for (int i = 0; i < plan.size(); i++) {
      long sample = plan.sample(i);
      if (sample < 0 || sample >= all) {
        throw new IndexOutOfBoundsException(
            "sample %,d (number %,d of the batch) outside [0, %,d): %s of \"%s\""
                .formatted(sample, i, all, recipe.space().describe(), recipe.variable().name()));
      }
    }
  }

  /** Reads the rows of some slots together, which are located; what they held is over. */
  static void readRows(List<Slot> slots) {
    slots.forEach(Slot::begin);
    Reader reading = slots.get(0).reader;
    long fetched = reading.fetchedBytes();
    if (slots.size() == 1) {
      slots.get(0).reader.getBatch(slots.get(0).read, slots.get(0).rows);
    } else {
      slots
          .get(0)
          .reader
          .getBatches(
              slots.stream().map(slot -> slot.read).toList(),
              slots.stream().map(slot -> slot.rows).toList());
    }
    long bytes = reading.fetchedBytes() - fetched;
    long count = Math.max(1, slots.stream().mapToLong(slot -> slot.rows.length).sum());
    slots.forEach(slot -> slot.fetchedRowBytes = (bytes + count - 1) / count);
  }

  private void begin() {
    tensors.clear();
    presentBytes = UNKNOWN;
    if (reader == null) {
      reader = recipe.variable().reader(recipe.reading());
      for (ReadPath path : ReadPath.values()) {
        counted[path.index()] = ReadStatistics.none(path);
      }
    }
    if (read == null) {
      read = reader.getBatch();
    }
  }

  /** Adds what its reader has read since it was last asked. */
  void countReads(ReadsByPath reads) {
    for (int path = 0; path < counted.length; path++) {
      ReadStatistics now = reader.statistics(counted[path].path());
      reads.add(counted[path], now);
      counted[path] = now;
    }
  }

  /** As {@link Reader#waitsFor()} of the read that it is in. Any thread. */
  String waitsFor() {
    Reader reading = reader;
    return reading == null ? "" : reading.waitsFor();
  }

  /** Whether its reader has read rows over a network. */
  boolean readsRemotely() {
    return reader != null && reader.statistics(ReadPath.REMOTE).rows() > 0;
  }

  /** Makes the fields that are converted, and the weights. */
  void convert() {
    presentBytes = UNKNOWN;
    for (Output output : recipe.outputs()) {
      GrowingBuffer[] memory =
          converted.computeIfAbsent(output.name(), name -> newBuffers(output.steps().size()));
      tensors.put(output.name(), output.make(this, memory));
    }
    ByteBuffer bytes = weights.ensure((long) plan.size() * Float.BYTES);
    for (int i = 0; i < plan.size(); i++) {
      bytes.putFloat(i * Float.BYTES, i < plan.size() - plan.padding() ? 1 : 0);
    }
  }

  private GrowingBuffer[] newBuffers(int count) {
    GrowingBuffer[] buffers = new GrowingBuffer[count];
    for (int i = 0; i < count; i++) {
      buffers[i] = newBuffer();
    }
    return buffers;
  }

  /** Memory for a tensor that the batch brings along, or for another one of a field. */
  Tensor allocate(String name, DType dtype, long... shape) {
    long bytes = dtype.bytes();
    for (long dimension : shape) {
      bytes = Math.multiplyExact(bytes, dimension);
    }
    if (bytes < 0 || bytes > GrowingBuffer.MAX_BYTES) {
      throw new IllegalArgumentException(
          "%,d bytes for \"%s\" outside [0, %,d]".formatted(bytes, name, GrowingBuffer.MAX_BYTES));
    }
    presentBytes = UNKNOWN;
    GrowingBuffer memory = allocated.computeIfAbsent(name, added -> newBuffer());
    Tensor tensor = Tensor.wrap(dtype, memory.ensure(bytes).slice(0, (int) bytes), shape);
    tensors.put(name, tensor);
    return tensor;
  }

  /** A field as it is given out. */
  Tensor field(String name) {
    Tensor made = tensors.get(name);
    Tensor tensor = made == null ? read.field(name) : made;
    boolean windows = recipe.space().rowsPerSample() > 1 && recipe.hasEntryPerRow(name);
    return windows && tensor.rows() == rows.length ? inWindows(tensor) : tensor;
  }

  private Tensor inWindows(Tensor tensor) {
    long[] flat = tensor.shape();
    long[] shape = new long[flat.length + 1];
    shape[0] = plan.size();
    shape[1] = recipe.space().rowsPerSample();
    System.arraycopy(flat, 1, shape, 2, flat.length - 1);
    return Tensor.wrap(tensor.dtype(), tensor.asByteBuffer(), shape);
  }

  /** 1 for each sample, 0 for padding. */
  Tensor weights() {
    ByteBuffer bytes = weights.buffer().slice(0, plan.size() * Float.BYTES);
    return Tensor.wrap(DType.FLOAT32, bytes, plan.size());
  }

  /** The rows as they were read. */
  Batch read() {
    return read;
  }

  int rows() {
    return rows.length;
  }

  long row(int i) {
    return rows[i];
  }

  /** Bytes of all fields as they were read. */
  long readBytes() {
    long bytes = 0;
    for (String name : recipe.fields()) {
      bytes += read.field(name).bytes();
    }
    return bytes;
  }

  /**
   * Bytes of a row as it comes over a network, where all fields of it come. Of ragged ones what
   * came, for all rows that were read together, local ones as well.
   */
  long recordBytes() {
    Schema schema = recipe.variable().schema();
    return schema.isFixed() ? schema.fixedBytes() : fetchedRowBytes;
  }

  /** Bytes of all tensors that hold values, as they are given out. */
  long valueBytes() {
    long bytes = 0;
    for (Tensor tensor : tensors.values()) {
      bytes += tensor.bytes();
    }
    for (String name : recipe.fields()) {
      bytes += tensors.containsKey(name) ? 0 : read.field(name).bytes();
    }
    return bytes;
  }

  /** The memory that this slot has, in bytes, its reader's included. */
  long takenBytes() {
    presentBytes();
    return takenBytes;
  }

  /**
   * The memory of the batch that it has now, in bytes, and of what it has converted before. Of the
   * same batch the second time it is only looked up.
   */
  long presentBytes() {
    if (presentBytes == UNKNOWN) {
      presentBytes = countBytes();
    }
    return presentBytes;
  }

  private long countBytes() {
    long bytes = weights.buffer().capacity();
    for (GrowingBuffer[] buffers : converted.values()) {
      for (GrowingBuffer buffer : buffers) {
        bytes += buffer.buffer().capacity();
      }
    }
    for (GrowingBuffer buffer : allocated.values()) {
      bytes += buffer.buffer().capacity();
    }
    if (read == null) {
      takenBytes = bytes;
      return bytes;
    }
    bytes += reader.workingBytes();
    takenBytes = bytes + read.capacityBytes();
    for (String name : recipe.fields()) {
      Field field = recipe.variable().schema().field(name);
      bytes += GrowingBuffer.capacityFor(read.field(name).bytes());
      bytes += field.isRagged() ? GrowingBuffer.capacityFor((rows.length + 1L) * Long.BYTES) : 0;
    }
    return bytes;
  }

  /** Frees the memory; the slot can be used again. What cannot be freed is forgotten as well. */
  void free() {
    List<Runnable> steps = new ArrayList<>();
    converted.values().forEach(buffers -> List.of(buffers).forEach(b -> steps.add(b::close)));
    allocated.values().forEach(buffer -> steps.add(buffer::close));
    steps.add(weights::close);
    if (read != null) {
      steps.add(read::close);
    }
    if (reader != null) {
      steps.add(reader::close);
    }
    takenBytes = 0;
    presentBytes = UNKNOWN;
    tensors.clear();
    converted.clear();
    allocated.clear();
    weights = newBuffer();
    read = null;
    reader = null;
    Cleanup.runAll(steps.stream());
  }
}
