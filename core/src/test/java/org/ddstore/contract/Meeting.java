package org.ddstore.contract;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.GroupEndpoint;
import org.ddstore.collective.LaneExchange;

/** Where ranks that are processes find each other: each leaves a file with its address. */
record Meeting(Path directory, LaneExchange exchange, int rank, int ranks) {
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  /** Joins the group of this name. Collective. */
  Communicator join(String name, Duration timeout) throws IOException {
    GroupEndpoint endpoint = GroupEndpoint.create(exchange, rank, ranks);
    Path unfinished = directory.resolve(name + "-unfinished-" + rank);
    Files.write(unfinished, endpoint.address());
    Files.move(unfinished, directory.resolve(name + rank), StandardCopyOption.ATOMIC_MOVE);
    List<byte[]> addresses = new ArrayList<>();
    for (int r = 0; r < ranks; r++) {
      Path file = directory.resolve(name + r);
      await().pollInterval(Duration.ofMillis(2)).atMost(PATIENCE).until(() -> Files.exists(file));
      addresses.add(Files.readAllBytes(file));
    }
    return endpoint.connect(addresses, timeout);
  }
}
