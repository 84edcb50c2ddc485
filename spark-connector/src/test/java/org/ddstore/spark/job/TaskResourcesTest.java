// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.job;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class TaskResourcesTest {
  @Test
  void opensNothingAfterTheTaskHasEnded() {
    TaskResources resources = new TaskResources();
    resources.closeAll();
    resources.closeAll();
    assertThatThrownBy(() -> resources.open(() -> null))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("closed: the task that would own the loader has ended");
    assertThatThrownBy(() -> resources.openCheckpoints(() -> null))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("closed: the task that would own the checkpoints has ended");
  }
}
