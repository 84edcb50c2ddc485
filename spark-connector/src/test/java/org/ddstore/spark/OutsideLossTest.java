// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.ddstore.spark.wire.NeedsReaderTool;
import org.ddstore.spark.wire.ReaderTool;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Readers in C, and the end of what they read: of an executor, of the store, and of a reader. */
@Tag("system")
@NeedsReaderTool
@Timeout(300)
class OutsideLossTest extends OnTestCluster {
  private static final int KILLS = 20;
  private static final int TEXT_BYTES = 8000;
  private static final long[] ALL =
      LongStream.range(0, ROWS).map(row -> row * 7919 % ROWS).toArray();
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final long DEADLINE_MS = 30_000;

  @BeforeAll
  static void start() {
    cluster = TestCluster.start(2, 2, 1024, Map.of());
  }

  @AfterEach
  void assertNothingHeld() {
    DDStores.list(cluster.session()).forEach(ResidentStore::drop);
    cluster.assertNothingHeld();
  }

  @AfterAll
  static void assertNothingLeft() {
    cluster.assertNothingLeft();
  }

  private static ResidentStore load() {
    String text = "repeat('x', %d)".formatted(TEXT_BYTES);
    return DDStores.from(cluster.session().range(0, ROWS, 1, 3).selectExpr("id", text + " as t"))
        .ranks(4)
        .load("loss");
  }

  /** Reads all rows, and checks the number that each begins with. */
  private static void readAll(ReaderTool tool, int reader) throws Exception {
    ByteBuffer fields = tool.read(reader, ALL, DEADLINE_MS).position(2 * Long.BYTES);
    for (long row : ALL) {
      assertThat(fields.getLong()).isEqualTo(row);
    }
  }

  private static Set<String> entries(long pid, String directory) {
    try (Stream<Path> all = Files.list(Path.of("/proc", Long.toString(pid), directory))) {
      Set<String> found = new HashSet<>();
      all.forEach(
          entry -> {
            try {
              found.add(
                  directory.equals("fd")
                      ? Files.readSymbolicLink(entry).toString()
                      : entry.toString());
            } catch (NoSuchFileException e) {
              // Closed since the listing.
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          });
      return found;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the local addresses at which a process listens, as in /proc/net/tcp. */
  private static Set<String> listening(long pid) {
    Set<String> descriptors = entries(pid, "fd");
    Set<String> addresses = new HashSet<>();
    for (String table : new String[] {"net/tcp", "net/tcp6"}) {
      try (Stream<String> lines = Files.lines(Path.of("/proc", Long.toString(pid), table))) {
        lines
            .map(line -> line.trim().split("\\s+"))
            .filter(words -> words[3].equals("0A"))
            .filter(words -> descriptors.contains("socket:[" + words[9] + "]"))
            .forEach(words -> addresses.add(words[1]));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return addresses;
  }

  private static Map<Long, Set<String>> listening() {
    Map<Long, Set<String>> all = new HashMap<>();
    cluster.executors().forEach(pid -> all.put(pid, listening(pid)));
    return all;
  }

  @Test
  void readersAndOwnersThatAreKilled() throws Exception {
    ResidentStore store = load();
    Map<Long, Set<String>> before = listening();
    String json = store.handle().toJson();
    listening()
        .forEach(
            (pid, ports) ->
                assertThat(ports)
                    .as("the first handle opens one port")
                    .containsAll(before.get(pid))
                    .hasSize(before.get(pid).size() + 1));
    readersThatAreKilledHarmNobody(json);
    readersLearnThatAnOwnerWasKilled(json);
  }

  private static CompletableFuture<ReaderTool.Failure> readUntilFailure(
      ReaderTool tool, int reader) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            while (true) {
              readAll(tool, reader);
            }
          } catch (ReaderTool.Failure e) {
            return e;
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
        });
  }

  @Test
  void readersLearnThatTheStoreWasDropped() throws Exception {
    DDStores.from(cluster.session().range(4).toDF()).ranks(4).load("stays"); // keeps the ports
    ResidentStore store = load();
    String json = store.handle().toJson();
    try (ReaderTool tool = ReaderTool.start(ReaderTool.PROGRAM);
        ReaderTool neighbour = ReaderTool.start(ReaderTool.PROGRAM)) {
      int reader = tool.open(json, ReaderTool.PORTS_ONLY);
      int mapped = neighbour.open(json, 0);
      readAll(tool, reader);
      readAll(neighbour, mapped);
      Path maps = Path.of("/proc", Long.toString(neighbour.process().pid()), "maps");
      assertThat(Files.readString(maps)).contains("/ddstore-");
      List<CompletableFuture<ReaderTool.Failure>> failures =
          List.of(readUntilFailure(tool, reader), readUntilFailure(neighbour, mapped));
      store.drop();
      for (CompletableFuture<ReaderTool.Failure> failure : failures) {
        ReaderTool.Failure gone = failure.get(DEADLINE_MS, TimeUnit.MILLISECONDS);
        assertThat(gone.code()).as(gone.getMessage()).isEqualTo(ReaderTool.STORE_GONE);
      }
      assertThat(Files.readString(maps)).as("a reader unmaps").doesNotContain("/ddstore-");
    }
  }

  private static void readersThatAreKilledHarmNobody(String json) throws Exception {
    Map<Long, Integer> sockets = new HashMap<>();
    Map<Long, Integer> threads = new HashMap<>();
    for (int flags : new int[] {0, ReaderTool.PORTS_ONLY}) {
      for (int i = 0; i <= KILLS; i++) {
        ReaderTool tool = ReaderTool.start(ReaderTool.PROGRAM);
        int reader = tool.open(json, flags);
        readAll(tool, reader);
        tool.ask(reader, ALL, DEADLINE_MS);
        for (long end = System.nanoTime() + i * 1_000_000L; System.nanoTime() < end; ) {
          Thread.onSpinWait();
        }
        tool.process().destroyForcibly();
        assertThatThrownBy(tool::close).isInstanceOf(IOException.class);
        if (i == 0) {
          for (long pid : cluster.executors()) {
            sockets.put(pid, entries(pid, "fd").size());
            threads.put(pid, entries(pid, "task").size());
          }
        }
      }
      for (long pid : cluster.executors()) {
        await("descriptors")
            .atMost(PATIENCE)
            .until(() -> entries(pid, "fd").size() <= sockets.get(pid) + 2);
        await("threads")
            .atMost(PATIENCE)
            .until(() -> entries(pid, "task").size() <= threads.get(pid) + 5);
      }
    }
    try (ReaderTool tool = ReaderTool.start(ReaderTool.PROGRAM)) {
      readAll(tool, tool.open(json, ReaderTool.PORTS_ONLY));
    }
  }

  /** By port, within the deadline; what is mapped can still be read. */
  private static void readersLearnThatAnOwnerWasKilled(String json) throws Exception {
    try (ReaderTool tool = ReaderTool.start(ReaderTool.PROGRAM);
        ReaderTool neighbour = ReaderTool.start(ReaderTool.PROGRAM)) {
      int reader = tool.open(json, ReaderTool.PORTS_ONLY);
      int mapped = neighbour.open(json, 0);
      readAll(tool, reader);
      readAll(neighbour, mapped);
      CompletableFuture<ReaderTool.Failure> failure = readUntilFailure(tool, reader);
      kill(cluster.executors().iterator().next());
      ReaderTool.Failure lost = failure.get(DEADLINE_MS, TimeUnit.MILLISECONDS);
      assertThat(lost.code()).as(lost.getMessage()).isEqualTo(ReaderTool.LOST);
      readAll(neighbour, mapped);
    }
  }
}
