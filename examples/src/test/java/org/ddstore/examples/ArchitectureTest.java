// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import org.ddstore.architecture.ArchitectureContract;

/** The examples above the connector and the command line. */
class ArchitectureTest extends ArchitectureContract {
  ArchitectureTest() {
    super("org.ddstore.examples", "org.ddstore.cli", "org.ddstore.spark");
  }
}
