// SPDX-License-Identifier: Apache-2.0
package org.ddstore.transport;

import java.io.Serializable;
import java.util.Objects;

/**
 * The availability of an optional component, such as a transport, in a process.
 *
 * @param isAvailable whether this process can use it
 * @param detail selected provider or version if it is available, else the reason and the remedy
 */
public record Availability(boolean isAvailable, String detail) implements Serializable {
  public Availability {
    Objects.requireNonNull(detail, "detail is null");
  }

  public static Availability available(String detail) {
    return new Availability(true, detail);
  }

  public static Availability unavailable(String reason) {
    return new Availability(false, reason);
  }
}
