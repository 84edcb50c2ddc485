// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.ddstore.spark.config.Settings;
import org.ddstore.transport.OneSidedOptions;
import org.junit.jupiter.api.Test;

class FabricTransportBackendTest {
  private static final String HOST = "127.0.0.1";

  @Test
  void readsOptionsFromTheSettings() {
    Settings none = Settings.of(Map.of("spark.master", "local"));
    assertThat(FabricTransportBackend.options(none, HOST, 3))
        .isEqualTo(new OneSidedOptions("", "", HOST, 3));

    Settings both =
        Settings.of(
            Map.of(
                "spark.ddstore.fabric.provider", "verbs", "spark.ddstore.fabric.interface", "lo"));
    assertThat(FabricTransportBackend.options(both, HOST, 0))
        .isEqualTo(new OneSidedOptions("verbs", "lo", HOST, 0));
  }

  @Test
  void anIllegalSettingIsRefusedByName() {
    Map<String, String> illegal = Map.of("spark.ddstore.fabric.provider", "a b");
    assertThatThrownBy(() -> new FabricTransportBackend().availability(illegal, HOST))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("spark.ddstore.fabric.provider");
  }
}
