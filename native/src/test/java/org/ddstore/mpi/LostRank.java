// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.ddstore.DDStore;
import org.ddstore.StoreOptions;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.GroupEndpoint;
import org.ddstore.collective.LaneExchange;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.types.DType;
import org.ddstore.types.ProcessAddress;

/**
 * A process that reads the rows of others by MPI until that fails. Ends with status {@value
 * #REFUSED} if it got an exception, whose class and text it prints. Arguments: rank, ranks, a
 * directory of all, the timeout of a call of MPI.
 */
final class LostRank {
  static final int REFUSED = 3;
  static final String READING = "reading";
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final int ROWS = 1000;

  private LostRank() {}

  public static void main(String[] arguments) throws IOException {
    int rank = Integer.parseInt(arguments[0]);
    int ranks = Integer.parseInt(arguments[1]);
    Path root = Path.of(arguments[2]);
    Duration callTimeout = Duration.parse(arguments[3]);
    ProcessDirectory directory = ProcessDirectory.acquire(root);
    LaneExchange lanes = LaneExchange.overFiles(directory);
    Communicator group;
    try (GroupEndpoint endpoint = GroupEndpoint.create(lanes, rank, ranks)) {
      group = endpoint.connect(exchange(root, rank, ranks, endpoint.address()), PATIENCE);
    }
    StoreOptions options =
        StoreOptions.defaults()
            .sharedMemory(root)
            .shortcut(false)
            .readTimeout(callTimeout.dividedBy(2));
    MpiTransport mpi =
        Mpi.join(
            group,
            0,
            new MpiOptions(
                new ProcessAddress("127.0.0.1", 1, new SecureRandom().nextLong()),
                root,
                callTimeout,
                PATIENCE));
    DDStore store = DDStore.open(group, mpi, options);
    store.init("x", ROWS, DType.INT64);
    System.out.println(READING);
    try {
      long[] indices = new long[ROWS];
      for (long turn = 0; ; turn++) {
        for (int i = 0; i < ROWS; i++) {
          indices[i] = (turn + 7L * i) % ((long) ranks * ROWS);
        }
        store.getBatch("x", indices).close();
      }
    } catch (RuntimeException e) {
      System.out.println(e);
      System.out.flush();
      Runtime.getRuntime().halt(REFUSED); // what the others have to do with MPI is over
    }
  }

  private static List<byte[]> exchange(Path root, int rank, int ranks, byte[] mine)
      throws IOException {
    Path own = Files.write(root.resolve("address-" + rank + ".new"), mine);
    Files.move(own, root.resolve("address-" + rank), StandardCopyOption.ATOMIC_MOVE);
    List<byte[]> all = new ArrayList<>();
    long deadlineNs = System.nanoTime() + PATIENCE.toNanos();
    for (int other = 0; other < ranks; other++) {
      Path file = root.resolve("address-" + other);
      while (!Files.exists(file)) {
        if (System.nanoTime() - deadlineNs > 0) {
          throw new IOException("rank " + other + " did not come");
        }
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
      }
      all.add(Files.readAllBytes(file));
    }
    return all;
  }
}
