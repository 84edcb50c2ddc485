// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import org.ddstore.architecture.ArchitectureContract;

/** The site of the documentation. */
class ArchitectureTest extends ArchitectureContract {
  ArchitectureTest() {
    super("org.ddstore.site");
  }
}
