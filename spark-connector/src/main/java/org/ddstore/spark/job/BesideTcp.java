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
 * Rows are read by another transport, and served over tcp as well: to readers that are not of the
 * group, for whom MPI has no windows, or that do not have what fabric needs.
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
      tcp.withdraw(segment); // or its reference would keep the memory as long as the session
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
