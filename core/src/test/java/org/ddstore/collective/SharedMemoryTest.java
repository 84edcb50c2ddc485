package org.ddstore.collective;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** The contract over mapped files, the ranks being threads; {@link SharedMemoryJvmsTest} forks. */
class SharedMemoryTest extends FailureContract {
  private Path directory;

  @BeforeEach
  void createDirectory() throws IOException {
    directory = LaneDirectories.create();
  }

  /** Fails if a file is left, also while the communicators are open. */
  @AfterEach
  void deleteEmptyDirectory() throws IOException {
    Files.delete(directory);
  }

  @Override
  List<Communicator> newGroup(int size, Duration timeout) throws Exception {
    List<SharedMemoryEndpoint> endpoints = new ArrayList<>();
    List<byte[]> addresses = new ArrayList<>();
    for (int r = 0; r < size; r++) {
      endpoints.add(SharedMemoryEndpoint.create(directory, r, size));
      addresses.add(endpoints.get(r).address());
    }
    List<CompletableFuture<Communicator>> connecting = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    for (SharedMemoryEndpoint endpoint : endpoints) {
      CompletableFuture<Communicator> future = new CompletableFuture<>();
      connecting.add(future);
      Thread thread =
          new Thread(
              () -> {
                try {
                  future.complete(endpoint.connect(addresses, timeout));
                } catch (IOException | RuntimeException e) {
                  future.completeExceptionally(e);
                }
              },
              Ranks.THREAD_PREFIX + "connecting");
      threads.add(thread);
      thread.start();
    }
    List<Communicator> group = new ArrayList<>();
    for (CompletableFuture<Communicator> future : connecting) {
      group.add(future.get());
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(directory).as("lanes once all ranks have mapped them").isEmptyDirectory();
    return group;
  }
}
