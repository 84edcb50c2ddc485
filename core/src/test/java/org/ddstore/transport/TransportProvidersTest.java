// SPDX-License-Identifier: Apache-2.0
package org.ddstore.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Optional;
import org.ddstore.transport.TransportProvider.AutoUse;
import org.junit.jupiter.api.Test;

class TransportProvidersTest {
  private record Sample(String name, int order, Optional<AutoUse> autoUse)
      implements TransportProvider {
    @Override
    public String summary() {
      return "uses " + name.length() + " letters";
    }

    @Override
    public Availability availability() {
      return Availability.available("");
    }
  }

  private static final TransportProvider RAIL =
      new Sample("rail", 1, Optional.of(new AutoUse(0, "")));
  private static final TransportProvider PIGEON =
      new Sample("pigeon", 2, Optional.of(new AutoUse(5, "all ranks have windows")));
  private static final TransportProvider DRUM = new Sample("drum", 3, Optional.empty());

  @Test
  void providersHaveTheirOrder() {
    assertThat(TransportProviders.checked(List.of(DRUM, PIGEON, RAIL)))
        .containsExactly(RAIL, PIGEON, DRUM);
  }

  @Test
  void autoTriesTheHighestPreferenceFirstAndOnlyThoseThatSaySo() {
    assertThat(TransportProviders.ofAuto(List.of(RAIL, PIGEON, DRUM)))
        .containsExactly(PIGEON, RAIL);
  }

  @Test
  void theSummaryHasEachTransportAndTheRuleOfAuto() {
    assertThat(TransportProviders.summary(List.of(RAIL, PIGEON, DRUM), "<%s>"))
        .isEqualTo(
            "<rail> uses 4 letters; <pigeon> uses 6 letters; <drum> uses 4 letters; <auto> uses"
                + " <pigeon> if all ranks have windows, else <rail>");
  }

  @Test
  void aNameIsTakenOnce() {
    TransportProvider twin = new Sample("drum", 9, Optional.empty());
    assertThatThrownBy(() -> TransportProviders.checked(List.of(DRUM, twin)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("the name \"drum\" of transport " + Sample.class.getName());
    TransportProvider auto = new Sample("auto", 9, Optional.empty());
    assertThatThrownBy(() -> TransportProviders.checked(List.of(auto)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("the name \"auto\"");
  }
}
