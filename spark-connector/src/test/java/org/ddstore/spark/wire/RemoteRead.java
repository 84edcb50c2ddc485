// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import org.ddstore.layout.ExtentMap;
import org.ddstore.memory.BootId;
import org.ddstore.memory.Segment;
import org.ddstore.read.Placement;
import org.ddstore.read.ReadPlan;
import org.ddstore.transport.PeerRows;
import org.ddstore.transport.Reach;
import org.ddstore.transport.RemoteReader;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.types.ProcessAddress;

/** Reads rows of one segment over the wire, wherever that is said to be. */
public final class RemoteRead implements AutoCloseable {
  private final Placement placement;
  private final RemoteReader reader;
  private final ReadPlan plan = new ReadPlan();
  private final int rowBytes;
  private Runnable beforeStaging = () -> {};

  /**
   * @param segment of fixed rows, or of ragged ones that are empty
   * @param owner the process to be asked
   */
  public RemoteRead(WireSession session, Segment segment, ProcessAddress owner, Duration timeout) {
    SegmentAddress address =
        new SegmentAddress(
            segment.nonce(),
            BootId.ofThisHost(),
            null,
            segment.rows(),
            segment.dataBytes(),
            "1@test",
            owner);
    Reach reach = new Reach(session, false, timeout);
    this.placement =
        new Placement(
            ExtentMap.EMPTY.append(segment.rows()),
            List.of(address.attach(0, segment.schema(), reach)));
    this.reader = session.newReader(timeout);
    this.rowBytes = segment.schema().prefixBytes();
  }

  /** Does this before memory is allocated for rows, by the thread that allocates it. */
  public void beforeStaging(Runnable action) {
    beforeStaging = action;
  }

  /** The bytes of a row. */
  public byte[] row(long index) {
    plan.locate(placement, new long[] {index}, 0, 1);
    plan.fetch(
        new RemoteReader() {
          @Override
          public void begin() {
            reader.begin();
          }

          @Override
          public void fetch(List<PeerRows> peers) {
            peers.forEach(rows -> rows.beforeStagingIsFreed(beforeStaging));
            reader.fetch(peers);
          }

          @Override
          public void close() {
            reader.close();
          }
        },
        ReadPlan.UNLIMITED_BYTES);
    byte[] bytes = new byte[rowBytes];
    ByteBuffer staging = plan.source(0);
    staging.get(plan.position(0), bytes);
    return bytes;
  }

  @Override
  public void close() {
    reader.close();
    plan.free();
  }
}
