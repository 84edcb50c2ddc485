// SPDX-License-Identifier: Apache-2.0
package org.ddstore.hosts;

import org.ddstore.architecture.ArchitectureContract;

/** The two hosts beside core. */
class ArchitectureTest extends ArchitectureContract {
  ArchitectureTest() {
    super("org.ddstore.hosts");
  }
}
