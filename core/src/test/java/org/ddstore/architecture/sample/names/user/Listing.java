// SPDX-License-Identifier: Apache-2.0
package org.ddstore.architecture.sample.names.user;

import java.util.List;

/** Sample of the rule: lists the names of transports. */
final class Listing {
  static final List<String> ALL = List.of("pigeon", "smoke");

  private Listing() {}
}
