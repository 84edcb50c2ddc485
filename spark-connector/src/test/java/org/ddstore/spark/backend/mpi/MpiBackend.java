// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend.mpi;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.ddstore.StoreOptions;
import org.ddstore.collective.Communicator;
import org.ddstore.contract.FilesBackend;
import org.ddstore.contract.Meeting;
import org.ddstore.contract.RankBackend;
import org.ddstore.contract.RankEnv;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.mpi.Mpi;
import org.ddstore.mpi.MpiOptions;
import org.ddstore.mpi.MpiTransport;
import org.ddstore.spark.wire.TcpBackend;
import org.ddstore.spark.wire.WireSession;
import org.ddstore.types.ReadPath;

/**
 * Ranks that read each other's rows, and their own, by MPI, and whose collectives are messages over
 * tcp.
 */
record MpiBackend(TcpBackend tcp) implements RankBackend {
  private static final Duration READ_TIMEOUT = Duration.ofSeconds(60);
  private static final Duration TO_JOIN = Duration.ofMinutes(1);

  static MpiBackend of(Path root) {
    return new MpiBackend(TcpBackend.plain(root));
  }

  @Override
  public List<String> directories() {
    return tcp.directories();
  }

  @Override
  public List<String> jvmOptions() {
    return tcp.jvmOptions();
  }

  @Override
  public RankEnv enter(Meeting meeting, Duration timeout) throws IOException {
    WireSession wire =
        TcpBackend.open(
            tcp.token(), TcpBackend.options(tcp.guarded(), meeting.address(), tcp.settings()));
    Path root = Path.of(tcp.root());
    Communicator group = FilesBackend.join(wire.lanes(root, false), meeting, timeout);
    MpiTransport mpi;
    try (Communicator ranks = FilesBackend.join(wire.lanes(root, false), meeting, TO_JOIN)) {
      mpi =
          Mpi.join(
              ranks,
              0,
              new MpiOptions(
                  wire.local(),
                  ProcessDirectory.SHARED_MEMORY,
                  READ_TIMEOUT.plusSeconds(10),
                  TO_JOIN));
    }
    return new RankEnv(
        meeting,
        group,
        mpi,
        StoreOptions.defaults().sharedMemory(root).shortcut(false).readTimeout(READ_TIMEOUT),
        owner -> ReadPath.REMOTE) {
      @Override
      protected void released() {
        mpi.release();
      }

      @Override
      public void close() {
        super.close();
        mpi.close();
      }
    };
  }
}
