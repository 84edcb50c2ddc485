// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PaceTest {
  private static final long QUICK = 20_000;
  private static final long SLOW = 1_000_000_000;

  private final Pace pace = new Pace();

  @Test
  void isNotQuickBeforeAQuickMeasurement() {
    assertThat(pace.isQuick()).isFalse();
    pace.record(SLOW);
    assertThat(pace.isQuick()).isFalse();
    pace.record(QUICK);
    assertThat(pace.isQuick()).isTrue();
  }

  @Test
  void staysQuickAfterASingleSlowMeasurement() {
    for (int i = 0; i < 1000; i++) {
      pace.record(i % 4 == 3 ? SLOW : QUICK);
      assertThat(pace.isQuick()).isTrue();
    }
  }

  @Test
  void isNotQuickAfterSeveralSlowMeasurements() {
    pace.record(1);
    int some = 0;
    for (; pace.isQuick(); some++) {
      pace.record(SLOW);
    }
    assertThat(some).isBetween(2, 6);
    pace.record(Long.MAX_VALUE);
    assertThat(pace.isQuick()).isFalse();
  }
}
