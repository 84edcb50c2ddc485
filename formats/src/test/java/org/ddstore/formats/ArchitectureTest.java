// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats;

import org.ddstore.architecture.ArchitectureContract;

/** The formats above the connector. */
class ArchitectureTest extends ArchitectureContract {
  ArchitectureTest() {
    super("org.ddstore.formats", "org.ddstore.formats.source", "org.ddstore.spark");
  }
}
