// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LocalGroupTest extends SplitContract {
  @Override
  List<Communicator> newGroup(int size, Duration timeout) {
    return LocalGroup.create(size, timeout);
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 0, 16_385})
  void refusesASizeOutOfRange(int size) {
    assertThatThrownBy(() -> LocalGroup.create(size, TIMEOUT))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("size " + size + " outside [1, 16384]");
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT0S", "PT-1S", "P366D"})
  void refusesATimeoutOutOfRange(Duration timeout) {
    assertThatThrownBy(() -> LocalGroup.create(1, timeout))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(timeout + " outside (0, ");
  }

  @Test
  void refusesNull() {
    assertThatThrownBy(() -> LocalGroup.create(1, null)).isInstanceOf(NullPointerException.class);
  }
}
