// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
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

/** The memory of one batch, reused. Owned by one thread at a time, as the pipeline ensures. */
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

  BatchPlan plan() {
    return plan;
  }

  /** Locates the rows of the completed plan. */
  void locate() {
    checkSamples();
    int count = plan.size() * recipe.space().rowsPerSample();
    if (rows.length != count) {
      rows = new long[count]; // a reader takes an array of exactly its rows
    }
    recipe.space().allRows(plan.samples(), plan.size(), rows);
  }

  /** Rejects sample numbers out of range, which could still map to existing rows. */
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

  /** Reads the located rows of some slots together and replaces their previous contents. */
  static void readRows(List<Slot> slots) {
    slots.forEach(Slot::begin);
    Reader reading = slots.get(0).reader;
    long fetched = reading.fetchedBytes();
    if (slots.size() == 1) {
      reading.getBatch(slots.get(0).read, slots.get(0).rows);
    } else {
      reading.getBatches(
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

  /** Adds the reads of the reader since the previous call. */
  void countReads(StageCounters counters) {
    for (int path = 0; path < counted.length; path++) {
      ReadStatistics now = reader.statistics(counted[path].path());
      counters.addReads(counted[path], now);
      counted[path] = now;
    }
  }

  /** Returns {@link Reader#waitsFor()} of the read in progress. Safe for use by any thread. */
  String waitsFor() {
    Reader reading = reader;
    return reading == null ? "" : reading.waitsFor();
  }

  boolean readsRemotely() {
    return reader != null && reader.statistics(ReadPath.REMOTE).rows() > 0;
  }

  void convert() {
    presentBytes = UNKNOWN;
    for (OutputField output : recipe.outputs()) {
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

  /** Allocates memory for an additional tensor of the batch, or for a replacement of a field. */
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

  /** Returns the weights: 1 for each sample, 0 for padding. */
  Tensor weights() {
    ByteBuffer bytes = weights.buffer().slice(0, plan.size() * Float.BYTES);
    return Tensor.wrap(DType.FLOAT32, bytes, plan.size());
  }

  Set<String> names() {
    Set<String> names = new LinkedHashSet<>(recipe.fields());
    names.addAll(tensors.keySet());
    return names;
  }

  boolean hasOffsets(String name) {
    return recipe.fields().contains(name) && recipe.variable().schema().field(name).isRagged();
  }

  Batch read() {
    return read;
  }

  int rows() {
    return rows.length;
  }

  long row(int i) {
    return rows[i];
  }

  long readBytes() {
    long bytes = 0;
    for (String name : recipe.fields()) {
      bytes += read.field(name).bytes();
    }
    return bytes;
  }

  /**
   * Returns the bytes of a row as transferred over a network, with all its fields. For ragged rows,
   * the mean over all rows of the combined read, local ones included.
   */
  long recordBytes() {
    Schema schema = recipe.variable().schema();
    return schema.isFixed() ? schema.fixedBytes() : fetchedRowBytes;
  }

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

  long takenBytes() {
    presentBytes();
    return takenBytes;
  }

  /** Returns the bytes of the current batch and of earlier conversions; cached for the batch. */
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

  /** Frees the memory, or drops it if that fails; the slot can be used again. */
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
