// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class MpiOptionsTest {
  private static final MpiOptions OF_A_MINUTE = MpiOptions.ofLaunched(Duration.ofMinutes(1));

  @Test
  void callTimeoutExceedsALongReadTimeout() {
    MpiOptions options = OF_A_MINUTE.readTimeout(Duration.ofMinutes(2));
    assertThat(options.callTimeout()).isEqualTo(Duration.ofSeconds(130));
    assertThat(options.collectiveTimeout()).isEqualTo(Duration.ofMinutes(1));
    assertThat(OF_A_MINUTE.readTimeout(Duration.ofSeconds(60)).callTimeout())
        .isEqualTo(Duration.ofSeconds(70));
  }

  @Test
  void shortReadTimeoutLeavesTheCallTimeout() {
    assertThat(OF_A_MINUTE.readTimeout(Duration.ofSeconds(50))).isSameAs(OF_A_MINUTE);
  }
}
