// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.job;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class TaskLoadersTest {
  @Test
  void opensNoLoaderAfterTheTaskHasEnded() {
    TaskLoaders loaders = new TaskLoaders();
    loaders.closeAll();
    loaders.closeAll();
    assertThatThrownBy(() -> loaders.open(() -> null))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("closed: the task that would own the loader has ended");
  }
}
