// SPDX-License-Identifier: Apache-2.0
package org.ddstore.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.ddstore.transport.TransportProvider.AutoUse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TransportProvidersTest {
  private final List<String> problems = new ArrayList<>();

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
    assertThat(TransportProviders.distinct(List.of(DRUM, PIGEON, RAIL), problems::add))
        .containsExactly(RAIL, PIGEON, DRUM);
    assertThat(problems).isEmpty();
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
  void keepsTheFirstOfTwoProvidersWithOneName() {
    TransportProvider twin = new Sample("drum", 0, Optional.empty());
    TransportProvider auto = new Sample("auto", 0, Optional.empty());

    assertThat(TransportProviders.distinct(List.of(DRUM, twin, auto, RAIL), problems::add))
        .containsExactly(RAIL, DRUM);
    String sample = Sample.class.getName();
    assertThat(problems)
        .containsExactly(
            "transport %s is left out, because %s has its name \"drum\", too: remove one of the two from the class path"
                .formatted(sample, sample),
            "transport %s is left out, because its name \"auto\" means the choice among all: rename it"
                .formatted(sample));
  }

  public static final class Whole implements TransportProvider {
    @Override
    public String name() {
      return "whole";
    }

    @Override
    public int order() {
      return 0;
    }

    @Override
    public String summary() {
      return "";
    }

    @Override
    public Availability availability() {
      return Availability.available("");
    }
  }

  private static final String UNLINKED = "org.pigeon.Unlinked";

  private static final class PartialLoader extends URLClassLoader {
    PartialLoader(Path classes) throws IOException {
      super(new URL[] {classes.toUri().toURL()}, TransportProvider.class.getClassLoader());
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
      if (name.equals(UNLINKED)) {
        throw new NoClassDefFoundError("org/pigeon/Wing");
      }
      return super.findClass(name);
    }
  }

  @Test
  void aProviderThatCannotBeLoadedIsLeftOut(@TempDir Path classes) throws IOException {
    Path services = Files.createDirectories(classes.resolve("META-INF/services"));
    Files.writeString(
        services.resolve(TransportProvider.class.getName()),
        String.join("\n", "org.pigeon.Missing", UNLINKED, Whole.class.getName()));
    try (PartialLoader loader = new PartialLoader(classes)) {
      assertThat(TransportProviders.load(loader, problems::add))
          .extracting(TransportProvider::name)
          .containsExactly("whole");
    }
    assertThat(problems)
        .hasSize(2)
        .allSatisfy(problem -> assertThat(problem).startsWith("a transport is left out, because"))
        .anySatisfy(problem -> assertThat(problem).contains("org.pigeon.Missing"))
        .anySatisfy(problem -> assertThat(problem).contains("org/pigeon/Wing"));
  }
}
