// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.util.Map;
import org.junit.jupiter.api.Tag;

/** Strangers to connections authenticated and encrypted by Spark's settings. */
@Tag("system")
class StrangersToEncryptedTest extends AuthenticatedStrangersContract {
  StrangersToEncryptedTest() {
    super(Map.of());
  }
}
