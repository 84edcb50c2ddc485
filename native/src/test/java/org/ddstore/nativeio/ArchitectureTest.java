// SPDX-License-Identifier: Apache-2.0
package org.ddstore.nativeio;

import org.ddstore.architecture.ArchitectureContract;

/** Packages of core and native together. */
class ArchitectureTest extends ArchitectureContract {
  ArchitectureTest() {
    super("org.ddstore.nativeio", "org.ddstore.fabric");
  }
}
