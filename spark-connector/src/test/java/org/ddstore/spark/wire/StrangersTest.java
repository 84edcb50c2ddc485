// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.util.Map;
import org.junit.jupiter.api.Tag;

/** Strangers to plain connections. */
@Tag("system")
class StrangersTest extends StrangersContract {
  StrangersTest() {
    super(false, Map.of());
  }
}
