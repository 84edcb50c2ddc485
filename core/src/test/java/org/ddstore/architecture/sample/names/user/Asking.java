// SPDX-License-Identifier: Apache-2.0
package org.ddstore.architecture.sample.names.user;

import java.util.function.Supplier;

/** Sample of the rule: asks for one transport by its name. */
final class Asking {
  private final Supplier<String> transport;

  Asking(Supplier<String> transport) {
    this.transport = transport;
  }

  boolean isPigeon() {
    return transport.get().equals("pigeon");
  }

  boolean isPigeonTransport() {
    return isPigeon();
  }

  boolean usesPigeon() {
    return isPigeon();
  }

  boolean hasOnlyPIGEONTransports() {
    return isPigeon();
  }
}
