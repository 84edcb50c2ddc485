// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.chaos;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import org.ddstore.memory.MappedRegion;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.spark.failure.TaskResults;

/** What a process still holds when it has no store. */
final class HeldResources {
  private static final String OURS = "ddstore-";
  private static final String SEGMENTS = ".*/ddstore-\\d+-[0-9a-f]{16}-\\d+-[0-9a-f]{8}.*";

  /** Threads that a session of Spark keeps until it stops. */
  private static final String OF_APPLICATION = "ddstore-(boss|server|client|connect)-.*";

  /** Threads of MPI, which stays until the process ends, with the lock of its directory. */
  private static final String OF_MPI = "ddstore-mpi-(progress|watchdog)";

  private static final String LOCK = "/lock";
  private static final int POLLS = 60;
  private static final long POLL_MS = 500;

  private HeldResources() {}

  /** Returns lines that describe what this process holds. */
  static List<String> ofThisProcess() {
    List<String> held = new ArrayList<>();
    add(held, "live off-heap bytes", OffHeapBuffer.liveBytes());
    add(held, "live mapped bytes", MappedRegion.liveBytes());
    List<String> threads =
        Thread.getAllStackTraces().keySet().stream().map(Thread::getName).toList();
    boolean hasMpi = threads.stream().anyMatch(name -> name.matches(OF_MPI));
    threads.stream()
        .filter(name -> name.startsWith(OURS))
        .filter(name -> !name.matches(OF_APPLICATION) && !name.matches(OF_MPI))
        .forEach(name -> held.add("thread " + name));
    try (DirectoryStream<Path> links = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
      for (Path link : links) {
        String target = target(link);
        if (target.matches(SEGMENTS) && !(hasMpi && target.endsWith(LOCK))) {
          held.add("descriptor of " + target);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return held;
  }

  private static void add(List<String> held, String name, long value) {
    if (value != 0) {
      held.add("%d %s".formatted(value, name));
    }
  }

  private static String target(Path link) throws IOException {
    try {
      return Files.readSymbolicLink(link).toString();
    } catch (NoSuchFileException e) {
      return ""; // the descriptor that lists the others
    }
  }

  /** A look at what is held. */
  @FunctionalInterface
  private interface Look {
    List<String> now();
  }

  /** Returns what is still held after half a minute. */
  private static List<String> last(Look look) throws InterruptedException {
    List<String> held = look.now();
    for (int i = 0; i < POLLS && !held.isEmpty(); i++) {
      Thread.sleep(POLL_MS);
      held = look.now();
    }
    return held;
  }

  /**
   * Returns what executors and this process hold without stores. Blocks for half a minute at most.
   */
  static List<String> afterStores(SparkSession session, int slots) throws InterruptedException {
    return last(() -> now(session, slots));
  }

  /** Returns what this process holds after Spark has stopped. Blocks for half a minute at most. */
  static List<String> afterSpark() throws InterruptedException {
    return last(HeldResources::ofThisProcess);
  }

  private static List<String> now(SparkSession session, int slots) {
    TreeSet<String> held = new TreeSet<>();
    ofThisProcess().forEach(each -> held.add("driver: " + each));
    TaskResults.of(
            JavaSparkContext.fromSparkContext(session.sparkContext())
                .parallelize(new ArrayList<Integer>(), slots)
                .rdd(),
            (partition, none) -> {
              Thread.sleep(POLL_MS); // so that each slot gets a task
              long pid = ProcessHandle.current().pid();
              return new ArrayList<>(
                  ofThisProcess().stream()
                      .map(each -> "executor %d: %s".formatted(pid, each))
                      .toList());
            })
        .forEach(held::addAll);
    return List.copyOf(held);
  }
}
