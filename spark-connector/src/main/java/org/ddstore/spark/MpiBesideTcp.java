package org.ddstore.spark;

import java.time.Duration;
import java.util.List;
import org.ddstore.ProcessAddress;
import org.ddstore.memory.Segment;
import org.ddstore.spark.wire.WireSession;
import org.ddstore.transport.RemoteReader;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.transport.Transport;

/**
 * The ranks of a group read each other by MPI; readers that are not of it, for whom MPI has no
 * windows, are served over tcp.
 */
record MpiBesideTcp(Transport mpi, WireSession tcp) implements Transport {
  @Override
  public String description() {
    return mpi.description();
  }

  @Override
  public ProcessAddress local() {
    return tcp.local();
  }

  @Override
  public void export(Segment segment) {
    tcp.export(segment);
    mpi.export(segment);
  }

  @Override
  public void share(Segment own, List<SegmentAddress> all) {
    mpi.share(own, all);
  }

  @Override
  public void withdraw(Segment segment) {
    tcp.withdraw(segment);
    mpi.withdraw(segment);
  }

  @Override
  public RemoteReader newReader(Duration timeout) {
    return mpi.newReader(timeout);
  }
}
