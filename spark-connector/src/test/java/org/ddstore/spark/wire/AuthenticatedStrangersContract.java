// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

/** The same where Spark's authentication comes before the store's own. */
abstract class AuthenticatedStrangersContract extends StrangersContract {
  AuthenticatedStrangersContract(Map<String, String> settings) {
    super(true, settings);
  }

  @Test
  void aPeerWithoutTheSecretOfSparkIsReportedOnce() throws Exception {
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
