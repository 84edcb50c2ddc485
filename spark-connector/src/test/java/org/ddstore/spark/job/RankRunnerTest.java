// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.job;

import static org.assertj.core.api.Assertions.assertThat;

import org.ddstore.types.DDStoreException;
import org.junit.jupiter.api.Test;

class RankRunnerTest {
  @Test
  void theFailureOfARankIsKeptIfTheTransportCannotNoteIt() {
    Throwable failure = new DDStoreException("the real failure");

    RankRunner.noteFailure("pigeon", failure, 0);

    assertThat(failure.getSuppressed())
        .singleElement()
        .extracting(Throwable::getMessage)
        .asString()
        .startsWith("transport pigeon is not on the class path");
  }
}
