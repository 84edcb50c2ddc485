// SPDX-License-Identifier: Apache-2.0
package org.ddstore.architecture.sample.names.backend;

/** Sample of the rule: a transport may hold its own name. */
public final class Pigeon {
  public String name() {
    return "pigeon";
  }
}
