// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Samplers of other numbers describe themselves by other words. */
class FingerprintTest {
  @Test
  void distinguishesAllSmallArrays() {
    Set<String> seen = new HashSet<>();
    int arrays = 0;
    for (int a = 0; a < 64; a++) {
      seen.add(Fingerprint.of(new int[] {a}));
      arrays++;
      for (int b = 0; b < 64; b++) {
        seen.add(Fingerprint.of(new int[] {a, b}));
        seen.add(Fingerprint.of(new int[] {a, b, 0}));
        arrays += 2;
      }
    }
    assertThat(seen).hasSize(arrays);
    assertThat(Fingerprint.of(new int[0])).isNotEqualTo(Fingerprint.of(0));
  }

  @Test
  void fingerprintsAreStableAcrossVersions() {
    assertThat(Fingerprint.of(1, 2, 3)).isEqualTo("867a4ff477557960");
    assertThat(Fingerprint.of(1L, 2L, 3L)).isEqualTo("9bebe6e8daa658e7");
    assertThat(Fingerprint.of(1.0, 0.5)).isEqualTo("3ca0cbb614c6ff09");
  }

  /** {@code Arrays.hashCode} takes each of these pairs for the same. */
  @Test
  void samplersOfDifferentNumbersHaveDifferentDescriptions() {
    assertThat(Samplers.classBalanced(1, 0, 31).describe())
        .isNotEqualTo(Samplers.classBalanced(1, 1, 0).describe());
    assertThat(Samplers.costAware(1, 50, 0, 31).describe(2))
        .isNotEqualTo(Samplers.costAware(1, 50, 1, 0).describe(2));
    double[] first = {Double.longBitsToDouble(0), Double.longBitsToDouble(31L << 52)};
    double[] second = {Double.longBitsToDouble(1L << 52), Double.longBitsToDouble(0)};
    assertThat(Samplers.weighted(1, 2, first).describe())
        .isNotEqualTo(Samplers.weighted(1, 2, second).describe());
    assertThat(Samplers.weightedWithoutReplacement(1, 1, first).describe())
        .isNotEqualTo(Samplers.weightedWithoutReplacement(1, 1, second).describe());
    assertThat(Samplers.classBalanced(1, 0, 1).weights(first).describe())
        .isNotEqualTo(Samplers.classBalanced(1, 0, 1).weights(second).describe());
  }
}
