package org.ddstore.spark.job;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.ddstore.memory.Segment;
import org.ddstore.spark.wire.WireSession;
import org.ddstore.transport.RemoteReader;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.transport.Transport;
import org.ddstore.types.Cleanup;
import org.ddstore.types.ProcessAddress;

/**
 * A transport that reads rows by another transport and also serves them over tcp: to readers
 * outside the group, for which MPI has no windows, or to readers that cannot use fabric.
 *
 * @param first transport that reads
 * @param tcp session that also serves
 */
record BesideTcp(Transport first, WireSession tcp) implements Transport {
  @Override
  public String description() {
    return first.description();
  }

  @Override
  public ProcessAddress local() {
    return tcp.local();
  }

  @Override
  public void export(Segment segment) {
    tcp.export(segment);
    try {
      first.export(segment);
    } catch (RuntimeException | Error e) {
      tcp.withdraw(segment); // its reference would keep the memory until the session ends
      throw e;
    }
  }

  @Override
  public void share(Segment own, List<SegmentAddress> all) {
    first.share(own, all);
  }

  @Override
  public void withdraw(Segment segment) {
    Cleanup.runAll(Stream.of(() -> tcp.withdraw(segment), () -> first.withdraw(segment)));
  }

  @Override
  public RemoteReader newReader(Duration timeout) {
    return first.newReader(timeout);
  }
}
