// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import org.ddstore.architecture.ArchitectureContract;

/** The kernel of notebooks above the command line. */
class ArchitectureTest extends ArchitectureContract {
  ArchitectureTest() {
    super(
        "org.ddstore.notebook",
        "org.ddstore.notebook.classes",
        "org.ddstore.notebook.kernel",
        "org.ddstore.cli");
  }
}
