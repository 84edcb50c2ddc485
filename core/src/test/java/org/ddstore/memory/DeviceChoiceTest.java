// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every pair of sources, in agreement and in disagreement. */
class DeviceChoiceTest {
  private static final String NONE = "-";

  private static OptionalInt number(String text) {
    return NONE.equals(text) ? OptionalInt.empty() : OptionalInt.of(Integer.parseInt(text));
  }

  private static DeviceChoice choose(
      String configured, String assigned, String localRank, String current, int count) {
    return DeviceChoice.of(
        number(configured),
        NONE.equals(assigned) ? List.of() : List.of(assigned.split(" ", -1)),
        NONE.equals(localRank) ? null : localRank,
        new Devices(count, number(current), "", "a driver"));
  }

  @ParameterizedTest
  @CsvSource({ // configured, assigned, LOCAL_RANK, current context, devices of the driver, chosen
    "-, -, -, -, 0, -",
    "-, -, -, -, 4, -",
    "2, -, -, -, 0, 2",
    "2, -, -, -, 4, 2",
    "-, 3 1, -, -, 4, 3",
    "-, 3 1, -, -, 0, 3",
    "1, 3 1, -, -, 4, 1",
    "-, 3 1, 1, -, 4, 1",
    "-, 3 1, -, 1, 4, 1",
    "-, -, 1, -, 4, 1",
    "-, -, 1, -, 0, -",
    "-, -, ' 1 ', -, 4, 1",
    "-, -, -, 2, 4, 2",
    "-, GPU-5a, -, -, 4, -",
    "2, GPU-5a, -, -, 4, 2",
    "1, 1, 1, 1, 2, 1",
    "0, 0, 0, 0, 1, 0",
  })
  void agreeingSourcesChooseADevice(
      String configured,
      String assigned,
      String localRank,
      String current,
      int count,
      String chosen) {
    assertThat(choose(configured, assigned, localRank, current, count))
        .isEqualTo(new DeviceChoice(number(chosen), ""));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0 | 2 3 | - | - | 4 | device 0 is configured, but spark.task.resource.gpu gave [2, 3]: configure none, or one of these",
        "0 | - | 1 | - | 4 | device 0 is configured, but environment variable LOCAL_RANK is 1: unset it, or set it to 0",
        "0 | - | x | - | 4 | device 0 is configured, but environment variable LOCAL_RANK is x: unset it, or set it to 0",
        "0 | - | - | 1 | 4 | device 0 is configured, but the current CUDA context is of device 1: configure device 1, or make a context of device 0 current first",
        "- | 0 | - | 1 | 4 | the current CUDA context is of device 1, but spark.task.resource.gpu gave [0]: configure none, or one of these",
        "- | 0 | 1 | - | 4 | environment variable LOCAL_RANK is 1, but spark.task.resource.gpu gave [0]: configure none, or one of these",
        "- | 0 | 7 | - | 0 | environment variable LOCAL_RANK is 7, but spark.task.resource.gpu gave [0]: configure none, or one of these",
        "- | - | 1 | 0 | 4 | the current CUDA context is of device 0, but environment variable LOCAL_RANK is 1: unset it, or set it to 0",
        "7 | - | - | - | 2 | device 7 is configured, but the driver has 2 devices, numbered from 0: use one in [0, 2)",
        "- | 7 | - | - | 2 | spark.task.resource.gpu gave [7], but the driver has 2 devices, numbered from 0: use one in [0, 2)",
        "- | - | 7 | - | 2 | environment variable LOCAL_RANK is 7, but the driver has 2 devices, numbered from 0: use one in [0, 2)",
        "-1 | - | - | - | 2 | device -1 is configured, but numbers begin at 0: configure none, or another",
        "1 | 1 | 1 | 0 | 2 | device 1 is configured, but the current CUDA context is of device 0: configure device 0, or make a context of device 1 current first",
      })
  void disagreementsNameBothSourcesAndTheRemedy(
      String configured,
      String assigned,
      String localRank,
      String current,
      int count,
      String problem) {
    DeviceChoice choice = choose(configured, assigned, localRank, current, count);
    assertThat(choice).isEqualTo(new DeviceChoice(OptionalInt.empty(), problem));
    assertThatThrownBy(choice::require)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(problem);
  }

  @Test
  void namesTheVariableThatHidesDevices() {
    Devices hidden = new Devices(1, OptionalInt.empty(), "3", "a driver");
    assertThat(DeviceChoice.of(OptionalInt.of(3), List.of("3"), null, hidden).problem())
        .isEqualTo(
            "device 3 is configured, but the driver has 1 device, numbered from 0: use one in"
                + " [0, 1); CUDA_VISIBLE_DEVICES is 3: the driver numbers only these, from 0");
  }

  @Test
  void requiresTheFirstDeviceIfNoSourceNamesOne() {
    assertThat(choose(NONE, NONE, NONE, NONE, 4).require()).isZero();
  }
}
