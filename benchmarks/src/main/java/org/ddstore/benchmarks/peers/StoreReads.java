// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.peers;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.ddstore.Batch;
import org.ddstore.ReadStatistics;
import org.ddstore.Reader;
import org.ddstore.Tensor;
import org.ddstore.Variable;
import org.ddstore.loader.LoadedBatch;
import org.ddstore.loader.Loader;
import org.ddstore.loader.LoaderOptions;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.sampling.Sampler;
import org.ddstore.sampling.Samplers;
import org.ddstore.sampling.WorldRank;
import org.ddstore.spark.StoreHandle;
import org.ddstore.spark.StoreReader;
import org.ddstore.types.DType;

/**
 * The program that reads a store in Java, by a handle, in a JVM of its own. Destinations are
 * reused. Rows are drawn outside of the measured time.
 */
final class StoreReads implements AutoCloseable {
  private static final ObjectMapper MAPPER =
      new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);
  private static final int WINDOW_BLOCKS = 32;
  private static final int SINGLES = 16_000;
  private static final int BATCHES = 16;
  private static final int CHECKED = 4;

  private final PeerTask task;
  private final StoreReader dense;
  private final StoreReader sparse;
  private final Reader denseRows;
  private final Reader sparseRows;
  private final OffHeapBuffer memory;
  private final ByteBuffer rowBytes;
  private final Tensor row;
  private final Map<PeerCase, Epochs> epochs = new EnumMap<>(PeerCase.class);
  private final SplittableRandom random;
  private long mismatches;

  /** The loader of a case, and the number of its next epoch. */
  private static final class Epochs {
    private final Loader loader;
    private long next;

    Epochs(Loader loader) {
      this.loader = loader;
    }
  }

  private StoreReads(PeerTask task) throws IOException {
    this.task = task;
    this.dense = StoreHandle.read(Path.of(task.handle())).attach();
    this.sparse = StoreHandle.read(Path.of(task.sparseHandle())).attach();
    this.denseRows = dense.rows().reader(PeerRun.FIELD);
    this.sparseRows = sparse.rows().reader(PeerRun.COLUMNS, PeerRun.DATA);
    this.memory = OffHeapBuffer.allocate(task.rowBytes());
    this.rowBytes = memory.buffer().order(ByteOrder.LITTLE_ENDIAN);
    this.row = Tensor.wrap(DType.FLOAT32, rowBytes, 1, task.rowBytes() / Float.BYTES);
    this.random = new SplittableRandom(task.seed());
  }

  /**
   * Speaks the protocol until the input ends.
   *
   * @param arguments file of the task
   */
  public static void main(String[] arguments) throws IOException {
    PrintStream out = System.out;
    System.setOut(System.err);
    PeerTask task = MAPPER.readValue(Path.of(arguments[0]).toFile(), PeerTask.class);
    try (StoreReads reads = new StoreReads(task)) {
      out.println(MAPPER.writeValueAsString(reads.hello()));
      BufferedReader in =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        JsonNode request = MAPPER.readTree(line);
        out.println(MAPPER.writeValueAsString(reads.turn(request)));
      }
    }
  }

  private Map<String, Object> hello() {
    List<String> cases =
        List.of(
            PeerCase.SINGLE.toString(),
            PeerCase.BATCH.toString(),
            PeerCase.EPOCH.toString(),
            PeerCase.SPARSE_BATCH.toString(),
            PeerCase.SPARSE_EPOCH.toString(),
            PeerCase.SPARSE_CHUNKS.toString());
    return Map.of(
        "name",
        "java",
        "version",
        "of this checkout",
        "rows",
        task.rows(),
        "settings",
        Map.of(
            "java",
            System.getProperty("java.version"),
            "path",
            path(),
            "epoch",
            "Loader, defaults"),
        "cases",
        cases);
  }

  /** Returns how a batch was read. */
  private String path() {
    denseRows.getBatch(draw(task.batch())).close();
    return dense.rows().statistics().stream()
        .filter(path -> path.rows() > 0)
        .map(ReadStatistics::path)
        .max(Comparator.naturalOrder())
        .orElseThrow()
        .name();
  }

  private Map<String, Object> turn(JsonNode request) {
    double nanos = request.get("seconds").asDouble() * TimeUnit.SECONDS.toNanos(1);
    String name = request.get("case").asText();
    mismatches = 0;
    for (PeerCase each : PeerCase.values()) {
      if (each.toString().equals(name)) {
        return switch (each) {
          case SINGLE -> singles(nanos);
          case BATCH -> batches(denseRows, false, nanos);
          case SPARSE_BATCH -> batches(sparseRows, true, nanos);
          case EPOCH, SPARSE_EPOCH, SPARSE_CHUNKS -> epochs(each, nanos);
          case START, MEMORY -> Map.of("error", "not supported");
        };
      }
    }
    return Map.of("error", "unknown case " + name);
  }

  private Map<String, Object> result(long nanos, long rows) {
    return Map.of("microsPerRow", nanos / 1e3 / rows, "rows", rows, "mismatches", mismatches);
  }

  private Map<String, Object> singles(double limit) {
    for (int i = 0; i < CHECKED; i++) {
      long index = random.nextLong(task.rows());
      denseRows.get(row, index);
      check(index, rowBytes, 0);
    }
    long nanos = 0;
    long rows = 0;
    while (nanos < limit) {
      long[] drawn = draw(SINGLES);
      long start = System.nanoTime();
      for (long index : drawn) {
        denseRows.get(row, index);
      }
      nanos += System.nanoTime() - start;
      rows += SINGLES;
    }
    return result(nanos, rows);
  }

  private Map<String, Object> batches(Reader reader, boolean isSparse, double limit) {
    try (Batch batch = reader.getBatch(draw(task.batch()))) {
      for (int i = 0; i < CHECKED; i++) {
        long[] indices = draw(task.batch());
        reader.getBatch(batch, indices);
        if (isSparse) {
          checkSparse(
              batch.field(PeerRun.COLUMNS),
              batch.field(PeerRun.DATA),
              batch.offsets(PeerRun.DATA),
              indices);
        } else {
          checkAll(batch.field(PeerRun.FIELD), indices);
        }
      }
      long nanos = 0;
      long rows = 0;
      while (nanos < limit) {
        long[][] drawn = new long[BATCHES][];
        for (int i = 0; i < BATCHES; i++) {
          drawn[i] = draw(task.batch());
        }
        long start = System.nanoTime();
        for (long[] indices : drawn) {
          reader.getBatch(batch, indices);
        }
        nanos += System.nanoTime() - start;
        rows += (long) BATCHES * task.batch();
      }
      return result(nanos, rows);
    }
  }

  private Epochs open(PeerCase wanted) {
    Variable rows = (wanted == PeerCase.EPOCH ? dense : sparse).rows();
    Sampler sampler =
        wanted == PeerCase.SPARSE_CHUNKS
            ? Samplers.chunked(task.seed(), task.batch(), WINDOW_BLOCKS)
            : Samplers.shuffled(task.seed());
    return new Epochs(
        Loader.open(
            rows,
            sampler.batchSize(task.batch()).everySample(),
            new WorldRank(0, 1),
            LoaderOptions.defaults()));
  }

  /**
   * Reads whole epochs, and whether every row came once; the first turn also compares all values.
   * Within the measured time only the first value of each row is copied.
   */
  private Map<String, Object> epochs(PeerCase wanted, double limit) {
    boolean isFirst = !epochs.containsKey(wanted);
    Epochs own = epochs.computeIfAbsent(wanted, this::open);
    boolean isSparse = wanted != PeerCase.EPOCH;
    if (isFirst) {
      for (LoadedBatch batch : own.loader.epoch(own.next++)) {
        check(batch, isSparse);
      }
    }
    float[] seen = new float[task.rows()];
    long nanos = 0;
    long rows = 0;
    long digest = 0;
    int stride = isSparse ? PeerRows.VALUES * Float.BYTES : task.rowBytes();
    while (nanos < limit) {
      int end = 0;
      long start = System.nanoTime();
      for (LoadedBatch batch : own.loader.epoch(own.next++)) {
        ByteBuffer bytes = bytes(batch.field(isSparse ? PeerRun.DATA : PeerRun.FIELD));
        int samples = batch.samples();
        for (int i = 0; i < samples; i++) {
          seen[end++] = bytes.getFloat(i * stride);
        }
      }
      nanos += System.nanoTime() - start;
      rows += end;
      digest = count(seen, end, isSparse);
    }
    return Map.of(
        "microsPerRow",
        nanos / 1e3 / rows,
        "rows",
        rows,
        "digest",
        PeerRows.text(digest),
        "mismatches",
        mismatches);
  }

  /** Counts rows that did not come once; returns the digest of the rows. */
  private long count(float[] seen, int end, boolean isSparse) {
    byte[] times = new byte[task.rows()];
    long digest = 0;
    for (int i = 0; i < end; i++) {
      int index = (int) seen[i] - (isSparse ? 0 : 1);
      digest += PeerRows.hash(index);
      if (index < 0 || index >= times.length) {
        mismatches++;
      } else if (times[index] < 2) {
        times[index]++;
      }
    }
    for (byte count : times) {
      mismatches += count == 1 ? 0 : 1;
    }
    return digest;
  }

  private void check(LoadedBatch batch, boolean isSparse) {
    long[] indices = new long[batch.samples()];
    for (int i = 0; i < indices.length; i++) {
      indices[i] = batch.row(i);
    }
    if (isSparse) {
      checkSparse(
          batch.field(PeerRun.COLUMNS),
          batch.field(PeerRun.DATA),
          batch.offsets(PeerRun.DATA),
          indices);
    } else {
      checkAll(batch.field(PeerRun.FIELD), indices);
    }
  }

  private static ByteBuffer bytes(Tensor tensor) {
    return tensor.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
  }

  private long[] draw(int count) {
    return random.longs(count, 0, task.rows()).toArray();
  }

  private void checkAll(Tensor tensor, long... indices) {
    ByteBuffer bytes = bytes(tensor);
    for (int r = 0; r < indices.length; r++) {
      check(indices[r], bytes, r * task.rowBytes());
    }
  }

  private void check(long index, ByteBuffer bytes, int position) {
    for (int i = 0; i < task.rowBytes() / Float.BYTES; i++) {
      if (bytes.getFloat(position + i * Float.BYTES) != (float) (index + i + 1)) {
        mismatches++;
        return;
      }
    }
  }

  private void checkSparse(Tensor columns, Tensor data, Tensor offsets, long... indices) {
    ByteBuffer columnBytes = bytes(columns);
    ByteBuffer dataBytes = bytes(data);
    ByteBuffer offsetBytes = bytes(offsets);
    for (int r = 0; r < indices.length; r++) {
      long first = offsetBytes.getLong(r * Long.BYTES);
      boolean isEqual = offsetBytes.getLong((r + 1) * Long.BYTES) - first == PeerRows.VALUES;
      for (int k = 0; k < PeerRows.VALUES && isEqual; k++) {
        int position = (int) (first + k) * Float.BYTES;
        isEqual =
            columnBytes.getInt(position)
                    == (long) k * PeerRows.STRIDE + indices[r] % PeerRows.STRIDE
                && dataBytes.getFloat(position) == (float) (indices[r] + k);
      }
      mismatches += isEqual ? 0 : 1;
    }
  }

  @Override
  public void close() {
    epochs.values().forEach(each -> each.loader.close());
    try (dense;
        sparse;
        denseRows;
        sparseRows) {
      memory.close();
    }
  }
}
