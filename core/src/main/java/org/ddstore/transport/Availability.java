package org.ddstore.transport;

import java.io.Serializable;
import java.util.Objects;

/**
 * Whether a transport can be used in a process.
 *
 * @param detail what was chosen if it is available (a provider, a version), else the reason and
 *     what helps
 */
public record Availability(boolean isAvailable, String detail) implements Serializable {
  public Availability {
    Objects.requireNonNull(detail, "detail");
  }

  public static Availability available(String detail) {
    return new Availability(true, detail);
  }

  public static Availability unavailable(String reason) {
    return new Availability(false, reason);
  }
}
