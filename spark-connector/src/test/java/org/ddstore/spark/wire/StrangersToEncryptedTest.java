package org.ddstore.spark.wire;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Strangers to connections authenticated and encrypted by Spark's settings. */
@Tag("system")
class StrangersToEncryptedTest extends StrangersContract {
  StrangersToEncryptedTest() {
    super(true);
  }

  @Test
  void whoDoesNotKnowTheSecretOfSparkIsReportedOnce() throws Exception {
    for (int i = 0; i < 3; i++) {
      try (Stranger stranger = new Stranger(address(), "127.0.0.5")) {
        stranger.send(Stranger.request(hello())).awaitRefusal();
      }
    }
    assertThat(refusals())
        .filteredOn(line -> line.contains("127.0.0.5"))
        .singleElement()
        .asString()
        .contains("Spark's authentication failed");
  }
}
