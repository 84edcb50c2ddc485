// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ManifestTest {
  private static final Instant CREATED = Instant.parse("2026-11-23T11:40:12Z");

  private static byte[] example() {
    return Manifest.toBytes(
        CREATED,
        List.of(
            Manifest.part(
                0,
                SavingRanks.state(7),
                Map.of(
                    "model",
                    List.of(new Manifest.Chunk(4096, 0x0a1b2c3d), new Manifest.Chunk(1, -1)))),
            Manifest.part(1, SavingRanks.state(7), Map.of("empty", List.of()))));
  }

  @Test
  void hasTheDocumentedForm() {
    String state = SavingRanks.state(7).toJson();
    assertThat(new String(example(), UTF_8).lines())
        .startsWith(
            "ddstore-checkpoint 1 %010d".formatted(example().length),
            "created 2026-11-23T11:40:12Z",
            "ranks 2",
            "state 0 " + state,
            "stream 0 model",
            "chunk 4096 0a1b2c3d",
            "chunk 1 ffffffff",
            "state 1 " + state,
            "stream 1 empty")
        .hasSize(10)
        .last()
        .asString()
        .matches("end [0-9a-f]{8}");
  }

  @Test
  void parsesWhatItWrites() throws Exception {
    Manifest manifest = Manifest.parse(example());
    assertThat(manifest.created()).isEqualTo(CREATED);
    assertThat(manifest.states()).containsExactly(SavingRanks.state(7), SavingRanks.state(7));
    assertThat(manifest.streams()).containsOnlyKeys("model", "empty");
    Manifest.StoredStream model = manifest.streams().get("model");
    assertThat(model.length()).isEqualTo(4097);
    assertThat(model.file(1)).isEqualTo("r00000-model-000001");
    assertThat(manifest.streams().get("empty").rank()).isEqualTo(1);
  }

  @Test
  void everyPrefixIsIncomplete() {
    byte[] whole = example();
    for (int length = 0; length < whole.length; length++) {
      byte[] prefix = Arrays.copyOf(whole, length);
      assertThatThrownBy(() -> Manifest.parse(prefix))
          .as("the first %d bytes", length)
          .isInstanceOf(Manifest.IncompleteException.class);
    }
  }

  @Test
  void everyChangedByteIsFound() {
    byte[] whole = example();
    for (int i = 0; i < whole.length; i++) {
      byte[] changed = whole.clone();
      changed[i] ^= 1;
      assertThatThrownBy(() -> Manifest.parse(changed))
          .as("byte %d", i)
          .isInstanceOfAny(IllegalArgumentException.class, Manifest.IncompleteException.class);
    }
    byte[] longer = Arrays.copyOf(whole, whole.length + 1);
    assertThatThrownBy(() -> Manifest.parse(longer))
        .hasMessageMatching("it has .* bytes, its first line says .*");
  }

  @Test
  void refusesForeignFilesAndLaterVersions() {
    assertThatThrownBy(() -> Manifest.parse("PK something".getBytes(UTF_8)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("it does not begin with \"ddstore-checkpoint\"");
    assertThatThrownBy(
            () -> Manifest.parse("ddstore-checkpoint 2 0000000040\nmore".getBytes(UTF_8)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("it has version 2, this release reads version 1");
  }
}
