// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

/** A user's own sampler. */
class OwnSamplerTest {
  private record Backwards() implements Sampler {
    @Override
    public String describe() {
      return "backwards";
    }

    @Override
    public SampleOrder order(Epoch epoch) {
      long[] rows = new long[(int) epoch.samples()];
      for (int i = 0; i < rows.length; i++) {
        rows[i] = rows.length - 1L - i;
      }
      return SampleOrder.of(rows);
    }
  }

  @Test
  void isBatchedLikeABuiltInSampler() {
    Batching batching = new Backwards().batchSize(2);
    assertThat(Epochs.ofRank(batching, 9, 0, 2, 0)).isEqualTo(List.of(8L, 7L, 4L, 3L));
    assertThat(Epochs.ofRank(batching, 9, 1, 2, 0)).isEqualTo(List.of(6L, 5L, 2L, 1L));
    assertThat(batching.describe(2)).isEqualTo("backwards/4");
    assertThat(Epochs.ofRank(batching.distribution(Distribution.CONTIGUOUS), 9, 1, 2, 0))
        .isEqualTo(List.of(7L, 6L, 5L, 4L));
    assertThat(Epochs.ofAll(Samplers.windows(2, 1, 1, new Backwards()).batchSize(1), 4, 1, 0))
        .isEqualTo(List.of(2L, 1L, 0L));
  }

  private record Half() implements Sampler {
    @Override
    public String describe() {
      return "half";
    }

    @Override
    public SampleOrder order(Epoch epoch) {
      return SampleOrder.of(new long[(int) epoch.samples() / 2]);
    }
  }

  @Test
  void isRejectedIfItsOrderHasADifferentSize() {
    for (Distribution distribution : Distribution.values()) {
      BatchSampler batching = new Half().batchSize(2).everySample().distribution(distribution);
      assertThatThrownBy(() -> batching.epoch(8, new WorldRank(0, 1), 0))
          .as("%s", distribution)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage(
              "sampler half announces 8 positions, its order has 4: positions(..) must return the size of order(..)");
    }
  }

  @Test
  void mayWaitUnlessItDeclaresOtherwise() {
    assertThat(new Backwards().batchSize(2).everySample().neverWaits()).isFalse();
    assertThat(Samplers.windows(2, 1, 1, new Backwards()).batchSize(2).neverWaits()).isFalse();
    for (Sampler sampler :
        List.of(
            Samplers.sequential(),
            Samplers.shuffled(1),
            Samplers.chunked(1, 2, 3),
            Samplers.weighted(1, 2, 0.5, 0.5),
            Samplers.weightedWithoutReplacement(1, 1, 0.5, 0.5),
            Samplers.classBalanced(1, 0, 1),
            Samplers.windows(2, 1, 1, Samplers.shuffled(1)))) {
      assertThat(sampler.batchSize(2).neverWaits()).as(sampler.describe()).isTrue();
    }
    assertThat(Samplers.costAware(1, 5, 3, 3).neverWaits()).isTrue();
  }
}
