// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.ddstore.memory.Segment;
import org.ddstore.transport.RemoteReader;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.transport.Transport;
import org.ddstore.types.ProcessAddress;

/**
 * Serves what a rank has closed until all ranks have met. A close is local, and over a network the
 * rows go with it, but the scenarios end without waiting for ranks that still read.
 */
final class LingeringTransport implements Transport {
  private final Transport transport;
  private final Queue<Segment> withdrawn = new ConcurrentLinkedQueue<>();

  LingeringTransport(Transport transport) {
    this.transport = transport;
  }

  void withdrawAll() {
    for (Segment next = withdrawn.poll(); next != null; next = withdrawn.poll()) {
      transport.withdraw(next);
    }
  }

  @Override
  public void withdraw(Segment segment) {
    withdrawn.add(segment);
  }

  @Override
  public String description() {
    return transport.description();
  }

  @Override
  public ProcessAddress local() {
    return transport.local();
  }

  @Override
  public void export(Segment segment) {
    transport.export(segment);
  }

  @Override
  public void share(Segment own, List<SegmentAddress> all) {
    transport.share(own, all);
  }

  @Override
  public RemoteReader newReader(Duration timeout) {
    return transport.newReader(timeout);
  }
}
