// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LoopClockTest {
  /**
   * Loads of 100, 10, 30 and 10, computes of 40, 50, 60 and 70: without the first step 180 of 230.
   */
  @Test
  void computesTheDlioFormulaWithoutTheFirstStep() {
    LoopClock clock = new LoopClock();
    assertThat(clock.utilisation()).isZero();
    long now = 12_345;
    long[] loads = {100, 10, 30, 10};
    long[] computes = {40, 50, 60, 70};
    for (int step = 0; step < 4; step++) {
      clock.asked(now);
      clock.asked(now + loads[step] / 2); // asked again, for it was not ready
      now += loads[step];
      clock.received(now);
      now += computes[step];
    }
    clock.asked(now);
    assertThat(clock.utilisation()).isEqualTo(180.0 / 230);
    assertThat(clock.computeNanos()).as("of all steps").isEqualTo(220);
    assertThat(clock.batches()).isEqualTo(4);
  }

  @Test
  void weighsEpochsWithACountedStepEqually() {
    LoopClock clock = new LoopClock();
    clock.begin(); // what was before had none
    steps(clock, 3, 10, 30);
    assertThat(clock.totals()).containsExactly(0.75, 1);
    clock.begin();
    assertThat(clock.totals()).containsExactly(0.75, 1);
    assertThat(clock.utilisation()).isZero();
    steps(clock, 7, 50, 50);
    assertThat(clock.totals()).containsExactly(1.25, 2);
    clock.begin();
    steps(clock, 1, 5, 5);
    assertThat(clock.totals()).containsExactly(1.25, 2);
    assertThat(clock.computeNanos()).as("of all epochs").isEqualTo(3 * 30 + 7 * 50 + 5);
  }

  private static void steps(LoopClock clock, int steps, long load, long compute) {
    long now = 1000;
    for (int step = 0; step < steps; step++) {
      clock.asked(now);
      now += load;
      clock.received(now);
      now += compute;
    }
    clock.asked(now);
  }

  @Test
  void ignoresASingleStep() {
    LoopClock clock = new LoopClock();
    clock.asked(10);
    clock.received(20);
    clock.asked(90);
    assertThat(clock.utilisation()).isZero();
  }
}
