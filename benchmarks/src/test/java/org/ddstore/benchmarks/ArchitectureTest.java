// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import org.ddstore.architecture.ArchitectureContract;

/** The benchmarks above the command line. */
class ArchitectureTest extends ArchitectureContract {
  ArchitectureTest() {
    super(
        "org.ddstore.benchmarks",
        "org.ddstore.benchmarks.jmh",
        "org.ddstore.cli",
        "org.ddstore.hosts");
  }
}
