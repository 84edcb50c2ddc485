package org.ddstore.contract;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.SharedMemoryEndpoint;

/**
 * Where ranks that are processes find each other: each leaves a file with process id and address.
 */
record Meeting(Path directory, int rank, int ranks) {
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  /** Joins the group of this name. Collective. */
  Communicator join(String name, Duration timeout) throws IOException {
    SharedMemoryEndpoint endpoint = SharedMemoryEndpoint.create(directory, rank, ranks);
    byte[] address = endpoint.address();
    Path unfinished = directory.resolve(name + "-unfinished-" + rank);
    Files.write(
        unfinished,
        ByteBuffer.allocate(Long.BYTES + address.length)
            .putLong(ProcessHandle.current().pid())
            .put(address)
            .array());
    Files.move(unfinished, directory.resolve(name + rank), StandardCopyOption.ATOMIC_MOVE);
    List<byte[]> addresses = new ArrayList<>();
    long[] pids = new long[ranks];
    for (int r = 0; r < ranks; r++) {
      Path file = directory.resolve(name + r);
      await().pollInterval(Duration.ofMillis(2)).atMost(PATIENCE).until(() -> Files.exists(file));
      byte[] bytes = Files.readAllBytes(file);
      pids[r] = ByteBuffer.wrap(bytes).getLong();
      addresses.add(Arrays.copyOfRange(bytes, Long.BYTES, bytes.length));
    }
    return endpoint.connect(
        addresses,
        timeout,
        r -> ProcessHandle.of(pids[r]).map(ProcessHandle::isAlive).orElse(false));
  }
}
