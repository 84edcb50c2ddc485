// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import java.util.Optional;
import org.ddstore.contract.Needed;
import org.ddstore.hosts.Requirements;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** Programs on a {@link ClusterOnTwoHosts}. */
@Tag("system")
@Tag("slow")
abstract class OnTwoHosts {
  @BeforeAll
  static void requireTwoHosts() {
    Optional<String> missing = Requirements.missing();
    Needed.check("two hosts", missing.isEmpty(), missing::orElseThrow);
  }
}
