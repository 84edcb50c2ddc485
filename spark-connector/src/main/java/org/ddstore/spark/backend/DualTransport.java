// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.ddstore.memory.Segment;
import org.ddstore.transport.RemoteReader;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.transport.Transport;
import org.ddstore.types.Cleanup;
import org.ddstore.types.ProcessAddress;

/**
 * A transport that reads rows by one transport and also serves them over the connections of the
 * store: to readers outside of the replica group, or to readers that cannot use the first one.
 *
 * @param first transport that reads
 * @param network connections that also serve
 */
public record DualTransport(Transport first, StoreNetwork network) implements Transport {
  @Override
  public String description() {
    return first.description();
  }

  @Override
  public ProcessAddress local() {
    return network.local();
  }

  @Override
  public void export(Segment segment) {
    network.export(segment);
    try {
      first.export(segment);
    } catch (RuntimeException | Error e) {
      network.withdraw(segment); // its reference would keep the memory until the session ends
      throw e;
    }
  }

  @Override
  public void share(Segment own, List<SegmentAddress> all) {
    first.share(own, all);
  }

  @Override
  public void withdraw(Segment segment) {
    Cleanup.runAll(Stream.of(() -> network.withdraw(segment), () -> first.withdraw(segment)));
  }

  @Override
  public RemoteReader newReader(Duration timeout) {
    return first.newReader(timeout);
  }

  @Override
  public CompletableFuture<?> probe(ProcessAddress process) {
    return network.probe(process);
  }
}
