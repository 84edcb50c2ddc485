// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend.mpi;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import org.ddstore.spark.backend.FailedAttempt;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.FrozenMembershipException;
import org.ddstore.types.RankLostException;
import org.junit.jupiter.api.Test;

/** The failures that make the executors of a world unusable. */
class MpiAttemptsTest {
  private static FailedAttempt failed(boolean hasLostExecutor, Throwable... failures) {
    return new FailedAttempt(Set.of("0", "1"), List.of(failures), hasLostExecutor);
  }

  @Test
  void aLostMemberNeedsAFreshWorld() {
    assertThat(MpiAttempts.needsFreshWorld(failed(true))).isTrue();
    Throwable lost = new RankLostException(1, "rank 1 has ended");
    assertThat(MpiAttempts.needsFreshWorld(failed(false, lost))).isTrue();
    assertThat(MpiAttempts.needsFreshWorld(failed(false, new DDStoreException("read", lost))))
        .as("as a cause")
        .isTrue();
    assertThat(
            MpiAttempts.needsFreshWorld(
                failed(false, new FrozenMembershipException("other worlds", false))))
        .isTrue();
  }

  @Test
  void afterAnotherFailureTheWorldIsKept() {
    assertThat(MpiAttempts.needsFreshWorld(failed(false, new IllegalStateException("task"))))
        .isFalse();
  }

  @Test
  void aFailureBeforeTheAllGatherIsMarked() {
    Throwable failure = new IllegalStateException("load");
    assertThat(BeforeWorld.isMarked(failure)).isFalse();

    new MpiTransportBackend().failedBeforeStart(failure, 1);

    assertThat(BeforeWorld.isMarked(failure)).isTrue();
  }
}
