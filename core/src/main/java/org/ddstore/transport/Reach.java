package org.ddstore.transport;

import java.time.Duration;
import java.util.List;
import org.ddstore.memory.Segment;
import org.ddstore.types.ProcessAddress;

/**
 * How a holder of a store gets at the segments of others.
 *
 * @param transport for those that memory does not reach; null if there is none
 * @param shortcut whether segments of this process and this host are read by memory; otherwise they
 *     go over the transport like all others
 * @param readTimeout for one batch over the transport, and for rows that are being changed
 */
public record Reach(Transport transport, boolean shortcut, Duration readTimeout) {
  public Reach {
    if (transport == null && !shortcut) {
      throw new IllegalArgumentException("without a transport the shortcut cannot be off");
    }
  }

  /** Memory of this host alone. */
  public static final Reach MEMORY = new Reach(null, true, Duration.ofMinutes(1));

  /** Lets other processes read a segment of this one, if there is a transport. */
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

  /** What own segments are to be announced with; null if memory is all there is. */
  ProcessAddress local() {
    return transport == null ? null : transport.local();
  }
}
