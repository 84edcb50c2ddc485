// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Prints what an executor needs to load a shard of 1 GiB, from the DataFrame to the open store.
 *
 * <p>Little is asserted: the peak has the heap in it, and how much of that the collector lets fill
 * before it looks is its own affair.
 */
@Tag("system")
@Tag("slow")
@Timeout(900)
class StoreMemoryTest {
  private static final int HEAP_MB = 512;
  private static final long ROWS = 1L << 22;
  private static final int ROW_BYTES = 256;
  private static final long MIB = 1L << 20;

  @TempDir Path directory;

  /**
   * Resident memory of a process, from /proc/self/status.
   *
   * @param peak most since it was reset, all kinds together
   * @param anonymous heap, stacks, off-heap memory of the JVM
   * @param shared pages of /dev/shm that it maps and has touched
   */
  private record Resident(long peak, long now, long anonymous, long shared)
      implements Serializable {
    static Resident read() throws IOException {
      List<String> lines = Files.readAllLines(Path.of("/proc/self/status"));
      return new Resident(
          bytes(lines, "VmHWM:"),
          bytes(lines, "VmRSS:"),
          bytes(lines, "RssAnon:"),
          bytes(lines, "RssShmem:"));
    }

    private static long bytes(List<String> lines, String name) {
      return lines.stream()
          .filter(line -> line.startsWith(name))
          .mapToLong(line -> 1024 * Long.parseLong(line.replaceAll("[^0-9]", "")))
          .findFirst()
          .orElseThrow();
    }

    /** See proc(5): 5 sets VmHWM to what is resident now. */
    static Resident resetPeak() throws IOException {
      Files.writeString(Path.of("/proc/self/clear_refs"), "5");
      return read();
    }

    @Override
    public String toString() {
      return String.format(
          Locale.ROOT,
          "peak %d MiB, now %d MiB (anonymous %d, shared memory %d)",
          peak / MIB,
          now / MIB,
          anonymous / MIB,
          shared / MIB);
    }
  }

  @Test
  void loadsOneGibibyte() {
    // Much is computed here: the optimising compiler is worth its time.
    Map<String, String> optimised =
        Map.of("spark.executor.extraJavaOptions", "-XX:TieredStopAtLevel=4");
    try (TestCluster cluster = TestCluster.start(1, 1, HEAP_MB, optimised)) {
      String path = directory.resolve("floats").toString();
      cluster
          .session()
          .range(0, ROWS, 1, 4)
          .selectExpr("array_repeat(float(id), 64) as x")
          .write()
          .parquet(path);
      Dataset<Row> frame = cluster.session().read().parquet(path);
      StoreSpec spec = DDStores.from(frame).ranks(1).maxAttempts(1);
      DDStores.from(frame.limit(1000)).ranks(1).run(RankContext::rank);
      Resident before = cluster.inEverySlot(rows -> Resident.resetPeak()).get(0);
      List<Resident> loadedAndRead =
          spec
              .run(
                  context -> {
                    Resident loaded = Resident.read();
                    try (Reader reader = context.rows().reader()) {
                      for (int i = 0; i < ROWS; i += 1024) {
                        long[] indices = new long[1024];
                        for (int j = 0; j < indices.length; j++) {
                          indices[j] = (long) i + j;
                        }
                        try (Batch batch = reader.getBatch(indices)) {
                          assertThat(batch.field("x").rows()).isEqualTo(1024);
                        }
                      }
                    }
                    return new Resident[] {loaded, Resident.read()};
                  })
              .stream()
              .flatMap(Arrays::stream)
              .toList();
      Resident loaded = loadedAndRead.get(0);
      System.out.printf(
          Locale.ROOT,
          "shard of %d MiB, heap of %d MiB%n  before: %s%n  loaded: %s, peak %+d MiB%n  read:   %s%n",
          ROWS * ROW_BYTES / MIB,
          HEAP_MB,
          before,
          loaded,
          (loaded.peak() - before.now()) / MIB,
          loadedAndRead.get(1));
      assertThat(loaded.peak() - before.now())
          .as(
              "bytes at the peak above those before: the shard, read once for its digest, and the heap")
          .isLessThan(ROWS * ROW_BYTES + (HEAP_MB + 256) * MIB);
      cluster.assertNothingLeft();
    }
  }
}
