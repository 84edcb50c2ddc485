// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DeviceBindingTest {
  private static final OptionalInt NONE = OptionalInt.empty();

  private static DeviceBinding silent(OptionalInt device) {
    return new DeviceBinding(device, List.of());
  }

  @Test
  void usesTheAddressOfSparkByDefault() {
    assertThat(DeviceBinding.of(NONE, List.of("3", "1"), null, 8))
        .isEqualTo(silent(OptionalInt.of(3)));
  }

  @Test
  void usesTheConfiguredDeviceUnlessSparkDisagrees() {
    OptionalInt one = OptionalInt.of(1);
    assertThat(DeviceBinding.of(one, List.of(), null, 8)).isEqualTo(silent(one));
    assertThat(DeviceBinding.of(one, List.of("3", "1"), "1", 8)).isEqualTo(silent(one));
  }

  @Test
  void rejectsADeviceThatSparkDidNotAssign() {
    assertThatThrownBy(() -> DeviceBinding.of(OptionalInt.of(0), List.of("2", "3"), null, 8))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "device 0 is configured, but spark.task.resource.gpu gave [2, 3]: configure none, or"
                + " one of these");
    assertThatThrownBy(() -> DeviceBinding.of(OptionalInt.of(-1), List.of(), null, 8))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("device -1");
  }

  @Test
  void warnsOfADifferentLocalRank() {
    assertThat(DeviceBinding.of(NONE, List.of("2"), " 2", 8).warnings()).isEmpty();
    assertThat(DeviceBinding.of(NONE, List.of("2"), "0", 8))
        .isEqualTo(
            new DeviceBinding(
                OptionalInt.of(2),
                List.of("environment variable LOCAL_RANK is 0, but the device is 2")));
  }

  @Test
  void severalDevicesWithoutASettingAreAWarning() {
    assertThat(DeviceBinding.of(NONE, List.of(), null, 0)).isEqualTo(silent(NONE));
    assertThat(DeviceBinding.of(NONE, List.of(), null, 1)).isEqualTo(silent(NONE));
    assertThat(DeviceBinding.of(NONE, List.of(), null, 2).warnings())
        .singleElement()
        .asString()
        .startsWith("this host has 2 devices and none is assigned to this rank");
  }

  @Test
  void warnsOfANonNumericAddress() {
    DeviceBinding binding = DeviceBinding.of(NONE, List.of("GPU-5a"), null, 1);
    assertThat(binding.device()).isEmpty();
    assertThat(binding.warnings())
        .containsExactly(
            "spark.task.resource.gpu gave [GPU-5a], which is not the number of a device: configure"
                + " the device");
    OptionalInt one = OptionalInt.of(1);
    assertThat(DeviceBinding.of(one, List.of("GPU-5a"), null, 2))
        .as("as the warning says")
        .isEqualTo(
            new DeviceBinding(
                one,
                List.of(
                    "device 1 is configured, and spark.task.resource.gpu gave [GPU-5a]: cannot tell"
                        + " whether they are the same device")));
  }

  @Test
  void countsOnlyDeviceFiles(@TempDir Path directory) throws IOException {
    for (String name : List.of("nvidia0", "nvidia1", "nvidia12", "nvidiactl", "nvidia-uvm")) {
      Files.createFile(directory.resolve(name));
    }
    assertThat(DeviceBinding.countIn(directory)).isEqualTo(3);
    assertThat(DeviceBinding.countIn(directory.resolve("absent"))).isZero();
  }
}
