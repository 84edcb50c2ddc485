// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.util.Map;
import org.junit.jupiter.api.Tag;

/** False peers on connections that Spark's settings authenticate and encrypt. */
@Tag("system")
@Tag("slow")
class FalsePeersOnEncryptedTest extends FalsePeersContract {
  FalsePeersOnEncryptedTest() {
    super(true, Map.of());
  }
}
