// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.io.IOException;
import java.io.Serializable;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.management.JMException;
import javax.management.ObjectName;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.Batch;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.Leftovers;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.StoreHandle;
import org.ddstore.spark.StoreReader;
import org.ddstore.spark.TestCluster;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Resident stores that come and go leave nothing, on the driver and on executors. */
@Tag("system")
@Tag("slow")
class ResidentLeakTest {
  private static final int WARM_UP = 3;

  /**
   * Three times {@link #NOISE}, so that a descriptor or thread left by every third cycle is found.
   */
  private static final int CYCLES = 30;

  private static final int CYCLES_OF_A_PRINT = 300;

  private static final Duration OF_A_CYCLE = Duration.ofSeconds(50);
  private static final int ROWS = 24_000;
  private static final long MIB = 1L << 20;

  /** Its heap may still grow to its limit. */
  private static final long DRIVER_GROWTH = Runtime.getRuntime().maxMemory();

  /**
   * The heap of an executor is resident from the start, so this is what the JVM compiles and loads:
   * 7 MiB in 30 cycles, 31 MiB in 300 and 44 MiB in 9,341 were measured.
   */
  private static final long EXECUTOR_GROWTH = 64 * MIB;

  private static final int EXECUTOR_MIB = 512;
  private static final Map<String, String> WHOLE_HEAP =
      Map.of(
          "spark.executor.extraJavaOptions", "-Xms%dm -XX:+AlwaysPreTouch".formatted(EXECUTOR_MIB));

  /** Connections to executors and pools that idle threads leave a moment later. */
  private static final int NOISE = 10;

  /**
   * Resources held by a process.
   *
   * @param threads but those of Spark that come and go
   * @param objects live instances of classes of ours, see {@link #countObjects}
   * @param residentBytes of its memory
   */
  private record Held(long pid, int descriptors, int threads, long objects, long residentBytes)
      implements Serializable {
    private static final int INSTANCES = 1;
    private static final int CLASS = 3;

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
          countObjects(),
          resident);
    }

    /**
     * Live instances after a full collection, but for what waits for the end of a lease that has
     * been confirmed, a lambda and numbers of stores for a minute, and the journal's last events.
     */
    private static long countObjects() {
      try {
        String histogram =
            (String)
                ManagementFactory.getPlatformMBeanServer()
                    .invoke(
                        new ObjectName("com.sun.management:type=DiagnosticCommand"),
                        "gcClassHistogram",
                        new Object[] {new String[0]},
                        new String[] {String[].class.getName()});
        return histogram
            .lines()
            .map(line -> line.strip().split("\\s+", -1))
            .filter(columns -> columns.length > CLASS && columns[CLASS].startsWith("org.ddstore."))
            .filter(
                columns -> !columns[CLASS].matches(".*(\\$\\$Lambda|\\.Nonce$|\\.StoreEvent$).*"))
            .mapToLong(columns -> Long.parseLong(columns[INSTANCES]))
            .sum();
      } catch (JMException e) {
        throw new IllegalStateException("no histogram of classes", e);
      }
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

  private static void run(Duration atLeast) throws IOException {
    try (TestCluster cluster = TestCluster.start(2, 1, EXECUTOR_MIB, WHOLE_HEAP)) {
      for (int i = 0; i < WARM_UP; i++) {
        cycle(cluster, i);
      }
      cluster.assertNothingLeft();
      Map<Long, Held> before = held(cluster);
      int cycles = 0;
      long startNs = System.nanoTime();
      while (cycles < CYCLES || System.nanoTime() - startNs < atLeast.toNanos()) {
        cycle(cluster, cycles++);
        if (cycles % CYCLES_OF_A_PRINT == 0) {
          print(cycles, before, held(cluster));
        }
      }
      cluster.assertNothingLeft();
      int done = cycles;
      await("what was held before is all that is held")
          .atMost(Duration.ofMinutes(2))
          .untilAsserted(
              () -> {
                Map<Long, Held> after = held(cluster);
                assertThat(after.keySet()).isEqualTo(before.keySet());
                after.forEach((pid, now) -> compare(before.get(pid), now, done));
                print(done, before, after);
              });
      assertThat(DDStores.list(cluster.session())).isEqualTo(List.of());
    }
    await("nothing of ours in this process")
        .atMost(Duration.ofMinutes(1))
        .untilAsserted(() -> Leftovers.ofThisProcess().assertNone());
  }

  /** Prints the growth of each process, for longer runs. */
  private static void print(int cycles, Map<Long, Held> before, Map<Long, Held> after) {
    after.forEach(
        (pid, now) ->
            System.out.printf(
                "%d cycles: %s %d: %d KiB resident, %+d; descriptors %+d; threads %+d; objects %+d%n",
                cycles,
                isDriver(pid) ? "driver" : "executor",
                pid,
                now.residentBytes() >> 10,
                (now.residentBytes() - before.get(pid).residentBytes()) >> 10,
                now.descriptors() - before.get(pid).descriptors(),
                now.threads() - before.get(pid).threads(),
                now.objects() - before.get(pid).objects()));
  }

  private static boolean isDriver(long pid) {
    return pid == ProcessHandle.current().pid();
  }

  private static void compare(Held before, Held now, int cycles) {
    assertThat(now.descriptors())
        .as("descriptors of %d", now.pid())
        .isLessThan(before.descriptors() + NOISE);
    assertThat(now.threads()).as("threads of %d", now.pid()).isLessThan(before.threads() + NOISE);
    assertThat(now.residentBytes())
        .as("resident bytes of %d", now.pid())
        .isLessThan(
            before.residentBytes() + (isDriver(now.pid()) ? DRIVER_GROWTH : EXECUTOR_GROWTH));
    assertThat(now.objects())
        .as("live objects of ours in %d: fewer than one more a cycle", now.pid())
        .isLessThan(before.objects() + cycles);
  }

  /** {@code -Dddstore.soak.minutes=120} repeats the cycles for two hours. */
  @Test
  void loadAndDropLeaveNothing() {
    Duration atLeast = Duration.ofMinutes(Integer.getInteger("ddstore.soak.minutes", 0));
    Duration limit = OF_A_CYCLE.multipliedBy(WARM_UP + CYCLES).plus(atLeast);
    assertTimeoutPreemptively(limit, () -> run(atLeast));
  }
}
