// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.SparkConf;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.wire.OwnWire;
import org.ddstore.spark.wire.WireSession;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.spark.wire.connection.WireOptions;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.ProcessAddress;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A driver whose thread is interrupted, and processes of which one does not answer. */
@Timeout(180)
class ResidentProcessesTest {
  private static final String LOOPBACK = "127.0.0.1";
  private static final int HOLDERS = 3;

  /** Time-out of the driver, which no test reaches. */
  private static final Duration FOR_EVER = Duration.ofHours(1);

  private static final Duration IN_TIME = Duration.ofMinutes(1);

  private final StoreToken token = StoreToken.random();
  private final List<Holder> holders = new ArrayList<>();
  private WireSession session;

  /** Holds rows of the store, as an executor does. */
  private final class Holder {
    private final WireSession joined = OwnWire.join(token, options(Duration.ofMinutes(2)));
    private final AtomicInteger asked = new AtomicInteger();
    private final CountDownLatch mayAnswer = new CountDownLatch(1);
    private volatile boolean isStopped;
    private volatile boolean isExpired;
    private volatile boolean mayFree = true;
    private volatile boolean freed;

    Holder() {
      joined.control().serve(this::answer);
    }

    ProcessAddress address() {
      return joined.local();
    }

    private ByteBuffer answer(ByteBuffer question) {
      asked.incrementAndGet();
      if (isStopped) {
        awaitProceed();
      }
      if (question.equals(ResidentControl.drop()) && mayFree) {
        freed = true;
        joined.control().serve(null);
      }
      return ByteBuffer.allocate(Integer.BYTES).putInt(isExpired ? 0 : 1).flip();
    }

    private void awaitProceed() {
      try {
        assertThat(mayAnswer.await(IN_TIME.toSeconds(), TimeUnit.SECONDS)).isTrue();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  private static void confirm(ResidentProcesses processes, List<ProcessAddress> asked) {
    LoadProtocol<ProcessAddress> load = loaded(asked);
    processes.confirm(load, Nonce.random(), process -> false);
    assertThat(load.step()).isEqualTo(LoadProtocol.Step.PUBLISH);
    assertThat(load.ended()).as("processes that are gone").isEmpty();
  }

  private static LoadProtocol<ProcessAddress> loaded(List<ProcessAddress> processes) {
    LoadProtocol<ProcessAddress> load = new LoadProtocol<>(1);
    load.loaded(processes);
    return load;
  }

  private static WireOptions options(Duration idle) {
    SparkConf conf =
        new SparkConf(false)
            .set("spark.ddstore.io.connectionTimeout", idle.toSeconds() + "s")
            .set("spark.ddstore.io.connectionCreationTimeout", "20s");
    return WireOptions.of(conf, null, LOOPBACK);
  }

  @BeforeEach
  void join() {
    for (int i = 0; i < HOLDERS; i++) {
      holders.add(new Holder());
    }
    session = OwnWire.join(token, options(Duration.ofSeconds(1)));
  }

  @AfterEach
  void assertNoThreadLeft() {
    holders.forEach(holder -> holder.joined.close());
    assertThat(Thread.getAllStackTraces().keySet())
        .extracting(Thread::getName)
        .doesNotContain("ddstore-tell");
  }

  private List<ProcessAddress> addresses() {
    return holders.stream().map(Holder::address).toList();
  }

  private void awaitIdle() {
    await("idle connections are closed")
        .atMost(IN_TIME)
        .until(() -> addresses().stream().noneMatch(one -> OwnWire.isConnected(session, one)));
  }

  /** As in the {@code finally} of a run that took long, and was cancelled. */
  @Test
  void interruptedDropReachesUnconnectedProcesses() {
    try (ResidentProcesses processes = new ResidentProcesses(session, FOR_EVER, FOR_EVER)) {
      confirm(processes, addresses());
      awaitIdle();
      Thread.currentThread().interrupt();
      processes.drop(addresses());
    }
    assertThat(Thread.interrupted()).as("still interrupted").isTrue();
    assertThat(holders).allMatch(holder -> holder.freed);
  }

  /** As an executor does that SIGSTOP holds for longer than one question waits. */
  @Test
  void confirmsALateProcessWithoutDelayingOthers() throws Exception {
    Holder late = holders.get(0);
    late.isStopped = true;
    try (ResidentProcesses processes = new ResidentProcesses(session, FOR_EVER, FOR_EVER)) {
      CompletableFuture<Void> confirmed =
          CompletableFuture.runAsync(() -> confirm(processes, addresses()));
      await("the others are confirmed, and asked no more")
          .atMost(IN_TIME)
          .until(
              () ->
                  late.asked.get() > 0
                      && holders.get(1).asked.get() == 1
                      && holders.get(2).asked.get() == 1);
      assertThat(confirmed).as("the confirmation").isNotDone();
      late.mayAnswer.countDown();
      confirmed.get(1, TimeUnit.MINUTES);
    }
  }

  @Test
  void reportsFreedRowsAsExpiredNotEnded() {
    holders.get(0).isExpired = true;
    holders.get(1).joined.control().serve(null); // had no other rows, and has left the store
    try (ResidentProcesses processes = new ResidentProcesses(session, FOR_EVER, FOR_EVER)) {
      LoadProtocol<ProcessAddress> answers = loaded(addresses());
      processes.confirm(answers, Nonce.random(), process -> false);
      assertThat(answers.ended()).isEmpty();
      assertThat(answers.expired())
          .containsExactlyInAnyOrder(holders.get(0).address(), holders.get(1).address());
    }
  }

  @Test
  void reportsASilentProcessThatSparkGaveUpAsEnded() throws Exception {
    try (ResidentProcesses processes = new ResidentProcesses(session, FOR_EVER, FOR_EVER);
        ServerSocket silent = silent()) {
      LoadProtocol<ProcessAddress> answers =
          loaded(List.of(address(silent), holders.get(0).address()));
      processes.confirm(answers, Nonce.random(), process -> process.equals(address(silent)));
      assertThat(answers.ended()).containsExactly(address(silent));
      assertThat(answers.expired()).isEmpty();
    }
  }

  @Test
  void confirmHasADeadline() throws Exception {
    try (ResidentProcesses processes =
            new ResidentProcesses(session, FOR_EVER, Duration.ofMillis(10));
        ServerSocket silent = silent()) {
      assertThatThrownBy(
              () ->
                  processes.confirm(
                      loaded(List.of(address(silent))), Nonce.random(), process -> false))
          .isInstanceOf(DeadlineExceededException.class)
          .hasMessageContaining("have loaded their rows but have not answered");
    }
  }

  @Test
  void interruptedForgetReachesUnconnectedProcesses() {
    try (ResidentProcesses processes = new ResidentProcesses(session, FOR_EVER, FOR_EVER)) {
      Thread.currentThread().interrupt();
      processes.forget(addresses(), Nonce.random());
    }
    assertThat(Thread.interrupted()).as("still interrupted").isTrue();
    assertThat(holders).allMatch(holder -> holder.asked.get() >= 1);
  }

  @Test
  void interruptDoesNotEndTheWaitForASlowDrop() throws Exception {
    Holder slow = holders.get(0);
    slow.mayFree = false;
    CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
    try (ResidentProcesses processes = new ResidentProcesses(session, FOR_EVER, FOR_EVER)) {
      Thread drop =
          new Thread(
              () -> {
                processes.drop(addresses());
                interrupted.complete(Thread.interrupted());
              },
              "drop");
      drop.start();
      await("it is told").atMost(IN_TIME).until(() -> slow.asked.get() > 0);
      drop.interrupt();
      int before = slow.asked.get();
      await("it is asked again").atMost(IN_TIME).until(() -> slow.asked.get() > before + 1);
      assertThat(interrupted).as("the drop").isNotDone();
      slow.mayFree = true;
      assertThat(interrupted.get(1, TimeUnit.MINUTES)).as("still interrupted").isTrue();
    }
    assertThat(holders).allMatch(holder -> holder.freed);
  }

  /** Takes connections and says nothing, as a process does that SIGSTOP holds. */
  private static ServerSocket silent() throws IOException {
    return new ServerSocket(0, HOLDERS, InetAddress.getLoopbackAddress());
  }

  private static ProcessAddress address(ServerSocket listener) {
    return new ProcessAddress(
        listener.getInetAddress().getHostAddress(), listener.getLocalPort(), 1);
  }

  @Test
  void silentProcessDoesNotDelayTheDropOfOthers() throws Exception {
    try (ResidentProcesses processes = new ResidentProcesses(session, FOR_EVER, FOR_EVER)) {
      CompletableFuture<Void> drop;
      try (ServerSocket silent = silent()) {
        List<ProcessAddress> all = new ArrayList<>(List.of(address(silent)));
        all.addAll(addresses());
        drop = CompletableFuture.runAsync(() -> processes.drop(all));
        await("the others free theirs")
            .atMost(IN_TIME)
            .until(() -> holders.stream().allMatch(holder -> holder.freed));
        assertThat(drop).as("the drop, which waits for the silent one").isNotDone();
      }
      drop.get(1, TimeUnit.MINUTES); // now it is gone
    }
  }

  /** As an executor does that SIGSTOP holds for longer than a drop waits. */
  @Test
  void aProcessThatAnswersAfterTheDropIsToldAgain() {
    Holder late = holders.get(0);
    late.isStopped = true;
    try (ResidentProcesses processes =
        new ResidentProcesses(session, Duration.ofSeconds(1), FOR_EVER)) {
      processes.forget(List.of(late.address()), Nonce.random());
      processes.drop(List.of(late.address()));
    }
    assertThat(late.freed).isFalse();
    late.mayAnswer.countDown();
    await("it has dropped the store").atMost(IN_TIME).until(() -> late.freed);
    await("the driver has left")
        .atMost(IN_TIME)
        .until(() -> !OwnWire.isConnected(session, late.address()));
  }
}
