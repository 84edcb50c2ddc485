// SPDX-License-Identifier: Apache-2.0
package org.ddstore.transport;

import java.time.Duration;
import java.util.List;
import org.ddstore.memory.Segment;
import org.ddstore.types.ProcessAddress;

/**
 * The access of a store handle to the segments of other processes.
 *
 * @param transport transport for segments that cannot be mapped; null for none
 * @param shortcut whether segments of this process and this host are read from local memory; if
 *     false, they are read over the transport like all others
 * @param readTimeout limit for one batch over the transport, and for rows that are being changed
 */
public record Reach(Transport transport, boolean shortcut, Duration readTimeout) {
  public Reach {
    if (transport == null && !shortcut) {
      throw new IllegalArgumentException(
          "the shortcut is off and there is no transport: pass a transport or turn the shortcut on");
    }
  }

  /** Access to the memory of this host only. */
  public static final Reach MEMORY = new Reach(null, true, Duration.ofMinutes(1));

  /** Exports a segment of this process to other processes, if there is a transport. */
  public void export(Segment segment) {
    if (transport != null) {
      transport.export(segment);
    }
  }

  /** Makes exported segments readable for all ranks, if there is a transport. Collective. */
  public void share(Segment own, List<SegmentAddress> all) {
    if (transport != null) {
      transport.share(own, all);
    }
  }

  /** Ends {@link #export}. */
  public void withdraw(Segment segment) {
    if (transport != null) {
      transport.withdraw(segment);
    }
  }

  /** Returns the network address of own segments; null without a transport. */
  ProcessAddress local() {
    return transport == null ? null : transport.local();
  }
}
