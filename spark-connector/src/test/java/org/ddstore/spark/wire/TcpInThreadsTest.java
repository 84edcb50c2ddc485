// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkConf;
import org.ddstore.StoreOptions;
import org.ddstore.contract.GroupFactory;
import org.ddstore.contract.RankHarness;
import org.ddstore.contract.RowPathContract;
import org.ddstore.contract.TestRoots;
import org.ddstore.contract.ThreadRanks;
import org.ddstore.contract.TransportFactory;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.spark.wire.connection.WireOptions;
import org.ddstore.transport.Transport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;

/** Ranks as threads, each with a network end of its own; all rows come over it. */
@Tag("slow")
public class TcpInThreadsTest extends RowPathContract {
  private static final int RANKS = 3;

  private final StoreToken token = StoreToken.random();
  private final List<WireSession> open = new ArrayList<>();

  protected TcpInThreadsTest() {
    super(RANKS);
  }

  @Override
  protected RankHarness createHarness() throws IOException {
    Path root = TestRoots.sharedMemory();
    StoreOptions options = StoreOptions.defaults().sharedMemory(root).shortcut(false);
    return new ThreadRanks(options, GroupFactory.local(), this::lease, root);
  }

  private synchronized TransportFactory.Lease lease(int rank) {
    while (open.size() <= rank) {
      open.add(Wire.joinAlone(token, WireOptions.of(new SparkConf(false), null, "127.0.0.1")));
    }
    return new TransportFactory.Lease(transport(open.get(rank)), () -> {});
  }

  /** Returns the transport of one rank's rows. */
  protected Transport transport(WireSession session) {
    return session;
  }

  @AfterAll
  protected void leave() {
    open.forEach(WireSession::close);
  }

  @Override
  public boolean readsOverANetwork() {
    return true;
  }
}
