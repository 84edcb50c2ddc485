// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.ddstore.Batch;
import org.ddstore.DDStore;
import org.ddstore.Reader;
import org.ddstore.StoreOptions;
import org.ddstore.Tensor;
import org.ddstore.collective.ReduceOp;
import org.ddstore.memory.MappedRegion;
import org.ddstore.mpirun.MpiRun;
import org.ddstore.types.DType;
import org.ddstore.types.ReadPath;

/**
 * A program of ranks that mpirun starts. Arguments: what to do, a directory for what it has read
 * (of each row the index and the bytes) and how it came, and for {@code stores} whether the ranks
 * use the {@code shortcut}. {@code read} reads with it and then without, into a directory each.
 */
final class RankProgram {
  static final int ROW_BYTES = 100;

  /** The status of a process that dies. */
  static final int DEATH = 9;

  private static final int BATCH = 250;
  private static final int BATCHES = 20;
  private static final int STORES = 20;
  private static final int FIRST_STORES = 10;

  private RankProgram() {}

  public static void main(String[] arguments) {
    Path directory = Path.of(arguments[1]);
    boolean shortcut = arguments.length < 3 || !arguments[2].equals("no-shortcut");
    StoreOptions options = StoreOptions.defaults().shortcut(shortcut);
    System.exit(
        MpiRun.run(
            Duration.ofMinutes(1),
            ranks -> {
              switch (arguments[0]) {
                case "read" -> {
                  readInTurn(ranks, options.shortcut(true), directory.resolve("shortcut"));
                  readInTurn(ranks, options.shortcut(false), directory.resolve("transport"));
                }
                case "stores" -> openOneAfterTheOther(ranks, options, directory);
                case "fail-together" -> failWhileOthersWait(ranks);
                case "fail-alone" -> failWhileOthersCompute(ranks);
                case "die" -> dieWhileOthersRead(ranks, options);
                default -> throw new IllegalArgumentException("no such work: " + arguments[0]);
              }
            }));
  }

  /** Not the same on all ranks, and none on rank 1. */
  static int rowsOf(int rank) {
    return rank == 1 ? 0 : 400 + 37 * rank;
  }

  /** Returns the contents of global row {@code index}. */
  static byte[] row(String variable, long index) {
    byte[] row = new byte[ROW_BYTES];
    new Random(variable.hashCode() * 1_000_003L + index).nextBytes(row);
    return row;
  }

  private static Tensor rows(String variable, long first, int count) {
    byte[] all = new byte[count * ROW_BYTES];
    for (int i = 0; i < count; i++) {
      System.arraycopy(row(variable, first + i), 0, all, i * ROW_BYTES, ROW_BYTES);
    }
    return Tensor.wrap(DType.UINT8, all, count, ROW_BYTES);
  }

  private static long firstRowOf(int rank) {
    return LongStream.range(0, rank).map(r -> rowsOf((int) r)).sum();
  }

  private static void readInTurn(MpiRun ranks, StoreOptions options, Path directory) {
    int rank = ranks.rank();
    create(directory);
    try (DDStore store = ranks.open(options)) {
      store.add("x", rows("x", firstRowOf(rank), rowsOf(rank)));
      write(store, "x", directory.resolve("x-" + rank), rank);
      if (rowsOf(rank) > 0) {
        store.update("x", rows("new", firstRowOf(rank), 10), 0);
      }
      store.epochBegin();
      write(store, "x", directory.resolve("updated-" + rank), rank + 100);
      store.epochEnd();
    }
    ranks.release();
    readInGroups(ranks, options, directory);
    double[] sum = {rank + 0.5};
    ranks.communicator().allReduce(sum, ReduceOp.SUM);
    double n = ranks.ranks();
    if (sum[0] != n * n / 2) {
      throw new AssertionError("sum " + sum[0]);
    }
  }

  /** All ranks do so, at the same time. */
  private static void create(Path directory) {
    try {
      Files.createDirectories(directory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Even and odd ranks have a store each, of which every rank holds ten rows. */
  private static void readInGroups(MpiRun ranks, StoreOptions options, Path directory) {
    int color = ranks.rank() % 2;
    DDStore store = ranks.open(color, options);
    store.add("g" + color, rows("g" + color, ranks.rank() / 2 * 10L, 10));
    write(store, "g" + color, directory.resolve("g" + color + "-" + ranks.rank()), ranks.rank());
    // Left open: it is closed after the task.
  }

  /** Tells what the ranks hold after the first stores and after the last one. */
  private static void openOneAfterTheOther(MpiRun ranks, StoreOptions options, Path directory)
      throws IOException {
    String held = "";
    for (int i = 1; i <= STORES; i++) {
      try (DDStore store = ranks.open(i % 2 == 0 ? 0 : ranks.rank() % 2, options)) {
        store.add("x", rows("x", 10L * store.rank(), 10));
        long last = 10L * store.ranks() - 1;
        try (Batch batch = store.getBatch("x", last, 3)) {
          byte[] expected = Arrays.copyOf(row("x", last), 2 * ROW_BYTES);
          System.arraycopy(row("x", 3), 0, expected, ROW_BYTES, ROW_BYTES);
          if (!Arrays.equals(batch.field("x").toByteArray(), expected)) {
            throw new AssertionError("rows %d and 3 of %s are others".formatted(last, store));
          }
        }
        ranks.communicator().barrier();
      }
      ranks.release();
      if (i == FIRST_STORES) {
        held = held(ranks);
      }
    }
    Files.writeString(directory.resolve("held-" + ranks.rank()), held + "\n" + held(ranks));
  }

  private static String held(MpiRun ranks) throws IOException {
    List<String> descriptors = new ArrayList<>();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
      for (Path each : all) {
        if (Files.isSymbolicLink(each)) { // that by which they are listed has gone
          descriptors.add(Files.readSymbolicLink(each).toString());
        }
      }
    }
    return "%s, %d bytes mapped, %d mappings and %d descriptors of shared memory, %d threads of MPI"
        .formatted(
            ranks,
            MappedRegion.liveBytes(),
            Files.readAllLines(Path.of("/proc/self/maps")).stream()
                .filter(line -> line.contains("/dev/shm/"))
                .count(),
            descriptors.stream().filter(name -> name.contains("/dev/shm/")).count(),
            Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("ddstore-mpi"))
                .count());
  }

  private static void write(DDStore store, String name, Path file, int seed) {
    long total = store.variable(name).rows();
    Random random = new Random(seed);
    try (Reader reader = store.variable(name).reader();
        DataOutputStream out =
            new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(file)))) {
      for (int i = 0; i < BATCHES; i++) {
        long[] indices = random.longs(BATCH, 0, total).toArray();
        try (Batch batch = reader.getBatch(indices)) {
          byte[] bytes = batch.field(name).toByteArray();
          for (int row = 0; row < BATCH; row++) {
            out.writeLong(indices[row]);
            out.write(bytes, row * ROW_BYTES, ROW_BYTES);
          }
        }
      }
      Files.writeString(
          file.resolveSibling(file.getFileName() + ".paths"),
          "own %d, same host %d, remote %d"
              .formatted(
                  reader.statistics(ReadPath.OWN_PROCESS).rows(),
                  reader.statistics(ReadPath.SAME_HOST).rows(),
                  reader.statistics(ReadPath.REMOTE).rows()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void failWhileOthersWait(MpiRun ranks) {
    if (ranks.rank() == 1) {
      throw new IllegalStateException("the sample 17 is bad");
    }
    ranks.communicator().barrier();
  }

  private static void failWhileOthersCompute(MpiRun ranks) throws InterruptedException {
    if (ranks.rank() == 1) {
      throw new IllegalStateException("the sample 18 is bad");
    }
    Thread.sleep(Duration.ofMinutes(5).toMillis());
  }

  private static void dieWhileOthersRead(MpiRun ranks, StoreOptions options) {
    DDStore store = ranks.open(options);
    store.add("x", rows("x", ranks.rank() * 10L, 10));
    if (ranks.rank() == 1) {
      Runtime.getRuntime().halt(DEATH);
    }
    while (true) {
      store.getBatch("x", 0, 5, 10, 15).close();
    }
  }
}
