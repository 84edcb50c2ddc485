// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.ddstore.benchmarks.peers.KnownPeer;
import org.ddstore.cli.InProcess;
import org.ddstore.cli.Launcher.Outcome;
import org.ddstore.contract.Needed;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code bench peers} in this JVM, on a Spark of its own, with the peers that can be installed. */
@Tag("system")
@Tag("slow")
@Timeout(value = 1200, unit = TimeUnit.SECONDS)
class BenchPeersIT {
  private static final Path LIBRARY =
      Path.of(System.getProperty("ddstore.root"), "native/target/c/libddstore_reader.so.1");

  @BeforeAll
  static void findLibrary() {
    Needed.check("libddstore_reader", Files.exists(LIBRARY), () -> LIBRARY + " was not built");
  }

  @Test
  void readsTheSameRowsByAllInstalledPrograms() throws IOException {
    Outcome installed = InProcess.command("bench peers --install-peers --json");
    Set<String> absent = new TreeSet<>();
    installed.json().get("failed").fieldNames().forEachRemaining(absent::add);
    installed.json().get("failed").forEach(why -> System.out.println("skipped, " + why.asText()));

    Outcome outcome =
        InProcess.command("bench peers --rows 2000 --batch 96 --rounds 1 --seconds 0.01 --json");

    JsonNode json = outcome.json();
    assertThat(json.get("failed").toString()).isEqualTo("{}");
    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    assertThat(json.get("mismatches").asLong()).isZero();
    Map<String, Set<String>> cases = new HashMap<>();
    for (JsonNode figure : json.get("figures")) {
      String way = figure.get("way").asText();
      String section = figure.get("section").asText().replace("peers/", "");
      cases.computeIfAbsent(way, any -> new TreeSet<>()).add(section);
      assertThat(figure.get("samples")).as(way).hasSize(1);
      assertThat(figure.at("/samples/0").asDouble()).as(way + " " + section).isPositive();
      assertThat(figure.at("/settings/version").asText()).as(way).isNotEmpty();
      String baseline = figure.get("baseline").asText();
      assertThat(baseline).as(way).isIn("null", way.equals("ddstore") ? "numpy.take" : "ddstore");
    }
    assertThat(json.get("missing").fieldNames()).toIterable().containsExactlyElementsOf(absent);
    for (KnownPeer peer : KnownPeer.values()) {
      if (!absent.contains(peer.way())) {
        Set<String> own = cases.get(peer.way());
        switch (peer) {
          case DDSTORE, DDSTORE_PORTS ->
              assertThat(own)
                  .contains("single", "batch", "epoch", "start", "memory", "sparse-epoch");
          case ANNBATCH -> assertThat(own).contains("sparse-epoch", "sparse-chunks");
          case WEBDATASET -> assertThat(own).contains("epoch", "start", "memory", "convert");
          default -> assertThat(own).as(peer.way()).contains("single", "batch", "epoch");
        }
      }
    }
  }
}
