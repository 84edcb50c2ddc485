// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import org.junit.jupiter.api.Tag;

/** Processes of two hosts, which they take turns in. */
@Tag("slow")
class MixedLanesJvmsTest extends GroupJvmsContract {
  MixedLanesJvmsTest() {
    super(Means.Kind.MIXED);
  }
}
