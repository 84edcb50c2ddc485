// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ReadGateTest {
  private final AtomicInteger drained = new AtomicInteger();
  private final ReadGate gate = new ReadGate("owner", drained::incrementAndGet);

  @Test
  void idleGateDrainsOnceAtClose() throws InterruptedException {
    gate.newPass();
    assertThat(gate.close(Duration.ZERO)).isTrue();
    assertThat(gate.close(Duration.ZERO)).isTrue();
    assertThat(drained).hasValue(1);
    assertThatThrownBy(gate::checkOpen)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("closed: owner");
  }

  /** A task that is killed closes its store so. */
  @Test
  void anInterruptedThreadClosesAnIdleGate() throws InterruptedException {
    Thread.currentThread().interrupt();
    assertThat(gate.close(Duration.ofSeconds(30))).isTrue();
    assertThat(Thread.interrupted()).as("interrupt flag").isTrue();
    assertThat(drained).hasValue(1);
  }

  @Test
  void lastReaderDrainsTheGate() throws InterruptedException {
    ReadGate.Pass first = gate.newPass();
    ReadGate.Pass second = gate.newPass();
    first.enter("first");
    second.enter("second");
    assertThat(gate.inside()).isEqualTo(2);
    assertThat(gate.close(Duration.ofMillis(1))).isFalse();
    assertThatThrownBy(() -> gate.newPass().enter("late"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("closed: owner");
    first.exit();
    assertThat(drained).hasValue(0);
    assertThat(gate.isDrained()).isFalse();
    second.exit();
    assertThat(drained).hasValue(1);
    assertThat(gate.isDrained()).isTrue();
    assertThat(gate.close(Duration.ZERO)).isTrue();
    assertThat(gate.inside()).isZero();
  }

  @Test
  void passAllowsOneReadAtATimeAndNoneAfterRetire() {
    ReadGate.Pass pass = gate.newPass();
    pass.enter("reader");
    assertThatThrownBy(() -> pass.enter("reader"))
        .hasMessage("used by two threads at once: reader");
    assertThatThrownBy(() -> pass.retire("reader"))
        .hasMessage("used by two threads at once: reader");
    pass.exit();
    assertThat(pass.retire("reader")).isTrue();
    assertThat(pass.retire("reader")).isFalse();
    assertThatThrownBy(() -> pass.enter("reader"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("closed: reader");
  }

  /** An admitted reader must never see freed memory. */
  @Test
  void drainsOnlyWithoutReadersInside() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(4);
    for (int round = 0; round < 150; round++) {
      AtomicBoolean freed = new AtomicBoolean();
      AtomicInteger entered = new AtomicInteger();
      ReadGate each = new ReadGate(round, () -> freed.set(true));
      List<CompletableFuture<Void>> readers = new ArrayList<>();
      for (int t = 0; t < 4; t++) {
        readers.add(CompletableFuture.runAsync(() -> read(each, freed, entered), threads));
      }
      while (entered.get() < 50) {
        Thread.onSpinWait();
      }
      assertThat(each.close(Duration.ofSeconds(30))).isTrue();
      assertThat(freed).isTrue();
      CompletableFuture.allOf(readers.toArray(CompletableFuture[]::new)).join();
    }
    threads.shutdown();
  }

  private static void read(ReadGate gate, AtomicBoolean freed, AtomicInteger entered) {
    ReadGate.Pass pass = gate.newPass();
    while (!gate.isClosed()) {
      try {
        pass.enter("reader");
      } catch (IllegalStateException e) {
        return;
      }
      try {
        assertThat(freed).isFalse();
        entered.incrementAndGet();
      } finally {
        pass.exit();
      }
    }
  }
}
