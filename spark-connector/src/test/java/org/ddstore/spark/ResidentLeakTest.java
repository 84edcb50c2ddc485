package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.Batch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Resident stores that come and go leave nothing, on the driver and on executors. */
@Tag("system")
class ResidentLeakTest {
  private static final int WARM_UP = 5;
  private static final int CYCLES = 30;
  private static final Duration OF_A_CYCLE = Duration.ofSeconds(50);
  private static final int ROWS = 24_000;
  private static final long MIB = 1L << 20;

  /** A heap that has not been full may still grow; a shard of each cycle would be above this. */
  private static final long RESIDENT_GROWTH = 256 * MIB;

  /** Connections to executors and pools that idle threads leave a moment later. */
  private static final int NOISE = 10;

  /**
   * What a process holds.
   *
   * @param threads but those of Spark that come and go
   * @param residentBytes of its memory
   */
  private record Held(long pid, int descriptors, int threads, long residentBytes)
      implements Serializable {
    static Held now() throws IOException {
      long resident =
          Files.readAllLines(Path.of("/proc/self/status")).stream()
              .filter(line -> line.startsWith("VmRSS:"))
              .mapToLong(line -> 1024 * Long.parseLong(line.replaceAll("[^0-9]", "")))
              .findFirst()
              .orElseThrow();
      return new Held(
          ProcessHandle.current().pid(),
          Leftovers.openFiles().size(),
          (int) Thread.getAllStackTraces().keySet().stream().filter(Held::mayCount).count(),
          resident);
    }

    /** Spark removes what jobs leave behind by up to 128 threads, which end a minute later. */
    private static boolean mayCount(Thread thread) {
      return !thread.getName().startsWith("block-manager-");
    }
  }

  private static Map<Long, Held> held(TestCluster cluster) throws IOException {
    Map<Long, Held> all = new HashMap<>();
    cluster.inEverySlot(none -> Held.now()).forEach(held -> all.put(held.pid(), held));
    Held driver = Held.now();
    all.put(driver.pid(), driver);
    return all;
  }

  private static void cycle(TestCluster cluster, int number) {
    Dataset<Row> frame =
        cluster
            .session()
            .range(ROWS)
            .selectExpr("id", "cast(repeat(chr(int(65 + id % 26)), 1000) as binary) as x");
    ResidentStore one = DDStores.from(frame).ranks(2).load("one");
    if (number % 3 == 0) {
      use(cluster, one, frame);
    }
    one.drop();
  }

  private static void use(TestCluster cluster, ResidentStore one, Dataset<Row> frame) {
    ResidentStore two = DDStores.from(frame).ranks(2).width(1).load("two");
    StoreHandle handle = one.handle();
    two.append(frame.limit(100));
    cluster.inEverySlot(
        none -> {
          try (StoreReader reader = handle.attach();
              Batch batch = reader.store().getBatch("rows", 0, ROWS - 1)) {
            return batch.field("id").getLong(1);
          }
        });
    assertThat(one.run(context -> context.rows().rows())).containsOnly((long) ROWS);
    two.drop();
  }

  private static void run(int cycles) throws IOException {
    try (TestCluster cluster = TestCluster.start(2, 1, 512)) {
      for (int i = 0; i < WARM_UP; i++) {
        cycle(cluster, i);
      }
      cluster.assertNothingLeft();
      Map<Long, Held> before = held(cluster);
      for (int i = 0; i < cycles; i++) {
        cycle(cluster, i);
      }
      cluster.assertNothingLeft();
      await("what was held before is all that is held")
          .atMost(Duration.ofMinutes(2))
          .untilAsserted(
              () -> {
                Map<Long, Held> after = held(cluster);
                assertThat(after.keySet()).isEqualTo(before.keySet());
                after.forEach((pid, now) -> compare(before.get(pid), now));
              });
      assertThat(DDStores.list(cluster.session())).isEqualTo(List.of());
    }
    await("nothing of ours in this process")
        .atMost(Duration.ofMinutes(1))
        .untilAsserted(() -> Leftovers.ofThisProcess().assertNone());
  }

  private static void compare(Held before, Held now) {
    assertThat(now.descriptors())
        .as("descriptors of %d", now.pid())
        .isLessThan(before.descriptors() + NOISE);
    assertThat(now.threads()).as("threads of %d", now.pid()).isLessThan(before.threads() + NOISE);
    assertThat(now.residentBytes())
        .as("resident bytes of %d", now.pid())
        .isLessThan(before.residentBytes() + RESIDENT_GROWTH);
  }

  /** {@code -Dddstore.cycles=200} runs more of them. */
  @Test
  void loadAndDropLeaveNothing() {
    int cycles = Integer.getInteger("ddstore.cycles", CYCLES);
    assertTimeoutPreemptively(OF_A_CYCLE.multipliedBy(WARM_UP + cycles), () -> run(cycles));
  }
}
