// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.util.Map;
import org.junit.jupiter.api.Tag;

/** False peers on plain connections. */
@Tag("system")
class FalsePeersTest extends FalsePeersContract {
  FalsePeersTest() {
    super(false, Map.of());
  }
}
