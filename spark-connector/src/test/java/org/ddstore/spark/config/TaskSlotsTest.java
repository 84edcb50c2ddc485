// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.config;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TaskSlotsTest {
  @ParameterizedTest
  @CsvSource({
    "0, Backend --executor-id 0 --cores 64 --app-id a, spark://h:1, 2, 1, 64",
    "0, Backend --cores 64, spark://h:1, 2, 3, 21",
    "0, Backend --cores 4, spark://h:1, 2, 8, 1",
    "0, Backend, yarn, 16, 1, 16",
    "driver, Submit --cores 64, yarn, 16, 1, 1",
    "driver, App, local, 16, 1, 1",
    "driver, App, local[3], 16, 1, 3",
    "driver, App, local[*], 16, 2, 8",
    "driver, App, 'local[3,2]', 16, 1, 3",
    "driver, App, 'local-cluster[2,8,1024]', 16, 1, 1"
  })
  void dividesTheCoresOfTheProcess(
      String executor, String command, String master, int processors, int taskCpus, int slots) {
    assertThat(TaskSlots.of(executor, command, master, processors, taskCpus)).isEqualTo(slots);
  }
}
