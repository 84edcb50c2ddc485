// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Runs the ranks of a group, each in a thread of its own, and says what became of each. */
final class Ranks {
  static final String THREAD_PREFIX = "collective-test-rank-";
  private static final long PATIENCE_S = 60;

  private Ranks() {}

  @FunctionalInterface
  interface Work<T> {
    T run(Communicator communicator) throws Exception;
  }

  record Outcome<T>(T value, Throwable thrown) {
    T orThrow() {
      if (thrown != null) {
        throw new AssertionError("unexpected failure of a rank", thrown);
      }
      return value;
    }
  }

  record Running<T>(Thread thread, CompletableFuture<Outcome<T>> outcome) {
    Outcome<T> await() throws InterruptedException, ExecutionException, TimeoutException {
      Outcome<T> result = outcome.get(PATIENCE_S, TimeUnit.SECONDS);
      thread.join(TimeUnit.SECONDS.toMillis(PATIENCE_S));
      return result;
    }
  }

  static <T> Running<T> start(Communicator communicator, Work<T> work) {
    return start(communicator.rank(), () -> work.run(communicator));
  }

  static <T> Running<T> start(int rank, Callable<T> work) {
    CompletableFuture<Outcome<T>> outcome = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                outcome.complete(new Outcome<>(work.call(), null));
              } catch (Throwable e) {
                outcome.complete(new Outcome<>(null, e));
              }
            },
            THREAD_PREFIX + rank);
    thread.start();
    return new Running<>(thread, outcome);
  }

  static <T> List<Outcome<T>> run(List<Communicator> group, Work<T> work) throws Exception {
    List<Running<T>> running = new ArrayList<>();
    for (Communicator communicator : group) {
      running.add(start(communicator, work));
    }
    List<Outcome<T>> outcomes = new ArrayList<>();
    for (Running<T> rank : running) {
      outcomes.add(rank.await());
    }
    return outcomes;
  }

  static <T> List<T> values(List<Communicator> group, Work<T> work) throws Exception {
    return run(group, work).stream().map(Outcome::orThrow).toList();
  }

  static Communicator connect(GroupEndpoint endpoint, List<byte[]> addresses, Duration timeout)
      throws IOException {
    if (timeout.compareTo(CommunicatorContract.TIMEOUT) >= 0) {
      return endpoint.connect(addresses, timeout);
    }
    Communicator communicator = endpoint.attach(addresses, timeout, new SplitGroups());
    communicator.awaitAll("connect", CommunicatorContract.TIMEOUT);
    endpoint.deleteName();
    return communicator;
  }

  static List<Communicator> connect(List<GroupEndpoint> endpoints, Duration timeout)
      throws Exception {
    List<byte[]> addresses = endpoints.stream().map(GroupEndpoint::address).toList();
    List<CompletableFuture<Communicator>> connecting = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    for (GroupEndpoint endpoint : endpoints) {
      CompletableFuture<Communicator> future = new CompletableFuture<>();
      connecting.add(future);
      Thread thread =
          new Thread(
              () -> {
                try {
                  future.complete(connect(endpoint, addresses, timeout));
                } catch (IOException | RuntimeException e) {
                  future.completeExceptionally(e);
                }
              },
              THREAD_PREFIX + "connecting");
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
    return group;
  }

  static void assertNoThreadLeft() {
    assertThat(Thread.getAllStackTraces().keySet())
        .as("threads of a group that is closed")
        .noneMatch(thread -> thread.getName().startsWith(THREAD_PREFIX));
  }
}
