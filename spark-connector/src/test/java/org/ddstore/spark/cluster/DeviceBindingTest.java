// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import org.ddstore.memory.Devices;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DeviceBindingTest {
  private static final OptionalInt NONE = OptionalInt.empty();
  private static final Devices NO_DRIVER = Devices.none("no driver");

  private static DeviceBinding silent(OptionalInt device) {
    return new DeviceBinding(device, List.of(), "");
  }

  private static DeviceBinding of(OptionalInt configured, List<String> granted, int onHost) {
    return DeviceBinding.of(configured, granted, null, NO_DRIVER, onHost);
  }

  @Test
  void usesTheAddressOfSparkByDefault() {
    assertThat(of(NONE, List.of("3", "1"), 8)).isEqualTo(silent(OptionalInt.of(3)));
  }

  @Test
  void usesTheConfiguredDeviceUnlessSparkDisagrees() {
    OptionalInt one = OptionalInt.of(1);
    assertThat(of(one, List.of(), 8)).isEqualTo(silent(one));
    assertThat(of(one, List.of("3", "1"), 8)).isEqualTo(silent(one));
  }

  @Test
  void disagreementsLeaveNoDeviceAndAreThrownWhenItIsRequired() {
    DeviceBinding binding = of(OptionalInt.of(0), List.of("2", "3"), 8);
    String problem =
        "device 0 is configured, but spark.task.resource.gpu gave [2, 3]: configure none, or one of"
            + " these";
    assertThat(binding).isEqualTo(new DeviceBinding(NONE, List.of(), problem));
    assertThat(binding.description()).isEqualTo("none: " + problem);
    assertThatThrownBy(binding::require)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(problem);
    assertThat(of(NONE, List.of("2"), 8).require()).hasValue(2);
  }

  @Test
  void severalDevicesWithoutASettingAreAWarning() {
    assertThat(of(NONE, List.of(), 0)).isEqualTo(silent(NONE));
    assertThat(of(NONE, List.of(), 1)).isEqualTo(silent(NONE));
    assertThat(of(NONE, List.of(), 2).warnings())
        .singleElement()
        .asString()
        .startsWith("this host has 2 devices and none is assigned to this rank");
  }

  @Test
  void warnsOfANonNumericAddress() {
    DeviceBinding binding = of(NONE, List.of("GPU-5a"), 1);
    assertThat(binding.device()).isEmpty();
    assertThat(binding.warnings())
        .containsExactly(
            "spark.task.resource.gpu gave [GPU-5a], which is not the number of a device: configure"
                + " the device");
    OptionalInt one = OptionalInt.of(1);
    assertThat(of(one, List.of("GPU-5a"), 2))
        .as("as the warning says")
        .isEqualTo(
            new DeviceBinding(
                one,
                List.of(
                    "device 1 is in use, and spark.task.resource.gpu gave [GPU-5a]: cannot tell"
                        + " whether they are the same device"),
                ""));
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
