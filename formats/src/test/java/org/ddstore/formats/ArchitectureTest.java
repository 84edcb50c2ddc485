// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats;

import static org.assertj.core.api.Assertions.assertThat;

import org.ddstore.architecture.ArchitectureContract;
import org.ddstore.architecture.ArchitectureRules;
import org.junit.jupiter.api.Test;

/** The formats above the connector; all packages for users together. */
class ArchitectureTest extends ArchitectureContract {
  ArchitectureTest() {
    super("org.ddstore.formats", "org.ddstore.formats.source", "org.ddstore.spark");
  }

  @Test
  void packagesOfThePomExist() {
    assertThat(ArchitectureRules.packagesForUsers(ALL))
        .containsExactlyInAnyOrderElementsOf(USER_PACKAGES);
  }
}
