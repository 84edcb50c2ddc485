// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import org.ddstore.architecture.ArchitectureContract;

/** The command line above the connector. */
class ArchitectureTest extends ArchitectureContract {
  ArchitectureTest() {
    super("org.ddstore.cli", "org.ddstore.local", "org.ddstore.spark");
  }
}
