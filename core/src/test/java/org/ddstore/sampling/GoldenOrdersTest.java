// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.junit.jupiter.api.Test;

/** Orders of all samplers that must never change, because saved states depend on them. */
class GoldenOrdersTest {
  private static List<Long> ofTwelve(Sampler sampler) {
    return Epochs.order(sampler, 12, 3);
  }

  @Test
  void chunked() {
    assertThat(ofTwelve(Samplers.chunked(42, 2, 3)))
        .containsExactly(9L, 11L, 1L, 0L, 10L, 8L, 6L, 4L, 7L, 2L, 5L, 3L);
  }

  @Test
  void weighted() {
    double[] weights = IntStream.range(0, 12).mapToDouble(row -> row % 4).toArray();
    assertThat(ofTwelve(Samplers.weighted(42, 10, weights)))
        .containsExactly(3L, 3L, 2L, 6L, 1L, 7L, 5L, 7L, 6L, 11L);
    assertThat(ofTwelve(Samplers.weightedWithoutReplacement(42, 9, weights)))
        .containsExactly(2L, 10L, 3L, 9L, 1L, 6L, 7L, 11L, 5L);
  }

  @Test
  void classBalanced() {
    int[] labels = IntStream.range(0, 12).map(row -> row % 5 / 2).toArray();
    assertThat(ofTwelve(Samplers.classBalanced(42, labels)))
        .containsExactly(4L, 3L, 10L, 11L, 9L, 7L);
    assertThat(ofTwelve(Samplers.classBalanced(42, labels).weights(1, 2, 1).blockRows(2)))
        .containsExactly(9L, 4L, 3L, 7L, 2L, 8L, 11L, 10L);
    assertThat(ofTwelve(Samplers.classBalanced(42, labels).withReplacement(9)))
        .containsExactly(3L, 6L, 11L, 11L, 2L, 0L, 2L, 2L, 3L);
  }

  @Test
  void costAware() {
    long[] costs = LongStream.range(0, 12).map(row -> 1 + row % 5).toArray();
    assertThat(Epochs.ofRank(Samplers.costAware(42, 8, costs), 12, 0, 2, 3))
        .containsExactly(8L, 5L, 4L, 10L, 7L, 6L);
    assertThat(Epochs.ofRank(Samplers.costAware(42, 8, costs), 12, 1, 2, 3))
        .containsExactly(1L, 2L, 9L, 0L, 3L, 11L);
  }

  @Test
  void randomCrops() {
    Field image = Field.fixed("image", DType.UINT8, 28, 28);
    Sampler crops = Samplers.randomCrops(42, Samplers.sequential(), image, 5, 7);
    Crop crop = crops.space().crop().orElseThrow();
    int[] origin = new int[2];
    crop.origin(3, 0, 0, origin);
    assertThat(origin).containsExactly(11, 14);
    crop.origin(3, 11, 11, origin);
    assertThat(origin).containsExactly(18, 21);
  }
}
