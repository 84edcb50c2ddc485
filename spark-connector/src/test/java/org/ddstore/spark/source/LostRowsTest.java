// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import static org.assertj.core.api.Assertions.assertThat;

import org.ddstore.types.DDStoreException;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.RankLostException;
import org.junit.jupiter.api.Test;

/** Messages of queries whose tasks lose their rows. */
class LostRowsTest {
  @Test
  void keepsTheExceptionTypeAndNamesStoreAndRemedy() {
    DDStoreException late =
        LostRows.met("train", new DeadlineExceededException("remote rows did not come"));
    assertThat(late)
        .isInstanceOf(DeadlineExceededException.class)
        .hasMessageStartingWith("store \"train\": remote rows did not come. ")
        .hasMessageContaining("if an executor or its host does not respond")
        .hasMessageContaining("DDStores.open(spark, \"train\").repair()")
        .hasMessageContaining("(width)")
        .hasMessageContaining("spark.ddstore.readTimeout")
        .hasCauseInstanceOf(DeadlineExceededException.class);
    DDStoreException lost = LostRows.met("train", new RankLostException(3, "ended"));
    assertThat(lost)
        .isInstanceOf(RankLostException.class)
        .hasMessageContaining("DDStores.open(spark, \"train\").repair() restores them");
    assertThat(((RankLostException) lost).rank()).isEqualTo(3);
    assertThat(LostRows.met("train", new DDStoreException("closed")))
        .hasMessage("store \"train\": closed. If it was dropped or overwritten, read it again");
  }
}
