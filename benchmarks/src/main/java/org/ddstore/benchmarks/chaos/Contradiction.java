// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.chaos;

/** A state of a store that its model excludes. */
final class Contradiction extends RuntimeException {
  private static final long serialVersionUID = 1L;

  Contradiction(String message) {
    super(message);
  }
}
