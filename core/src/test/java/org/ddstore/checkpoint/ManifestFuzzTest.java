// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.ddstore.contract.Untrusted;
import org.ddstore.sampling.EpochState;
import org.junit.jupiter.params.provider.MethodSource;

/** Manifests of checkpoints, whose lines contain positions in epochs. */
class ManifestFuzzTest {
  private static final String STATE =
      "{\"v\":1,\"e\":3,\"b\":7,\"n\":1000,\"u\":2,\"s\":\"0011\",\"d\":\"2233.4455\"}";

  static Stream<byte[]> lines() {
    String part =
        Manifest.part(
            0,
            EpochState.parse(STATE),
            Map.of("model", List.of(new Manifest.Chunk(4096, -1), new Manifest.Chunk(5, 7))));
    return Stream.of(part, STATE).map(text -> text.getBytes(UTF_8));
  }

  /** The lines, once as they are and once after a right first line and before a right checksum. */
  @MethodSource("lines")
  @FuzzTest
  void manifest(byte[] bytes) {
    parse(bytes);
    parse(Manifest.toBytes(Instant.EPOCH, List.of(new String(bytes, UTF_8))));
    Untrusted.parse(
        () -> EpochState.parse(new String(bytes, UTF_8)), IllegalArgumentException.class);
  }

  private static void parse(byte[] bytes) {
    Untrusted.parse(
            () -> Manifest.parse(bytes),
            IllegalArgumentException.class,
            Manifest.IncompleteException.class)
        .ifPresent(
            manifest ->
                manifest
                    .streams()
                    .values()
                    .forEach(
                        stream -> {
                          if (stream.length() < 0 || manifest.created() == null) {
                            throw new AssertionError(manifest);
                          }
                        }));
  }
}
