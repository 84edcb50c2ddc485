// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.util.Map;
import org.junit.jupiter.api.Tag;

/** Strangers to connections that Spark's settings authenticate and do not encrypt. */
@Tag("system")
@Tag("slow")
class StrangersToAuthenticatedTest extends AuthenticatedStrangersContract {
  StrangersToAuthenticatedTest() {
    super(Map.of("spark.network.crypto.enabled", "false"));
  }
}
