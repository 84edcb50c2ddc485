// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import org.ddstore.StoreOptions;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.LaneExchange;
import org.ddstore.contract.FilesBackend;
import org.ddstore.contract.Meeting;
import org.ddstore.contract.Place;
import org.ddstore.contract.ProcessRanks;
import org.ddstore.contract.RankBackend;
import org.ddstore.contract.RankEnv;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.types.ProcessAddress;
import org.ddstore.types.ReadPath;

/**
 * Ranks of one host that read each other's rows, and their own, by MPI, and whose collectives go
 * over files.
 *
 * @param root of the stores' files
 * @param lanes of the files over which the group talks
 */
record MpiBackend(String root, String lanes) implements RankBackend {
  private static final Duration READ_TIMEOUT = Duration.ofSeconds(60);
  private static final int PORT = 1; // nobody connects

  static ProcessRanks world(int ranks, String root, String lanes) throws Exception {
    ProcessRanks processes = new ProcessRanks(new MpiBackend(root, lanes), List.of(Place.HERE));
    try {
      processes.run(ranks, Duration.ofMinutes(1), rank -> rank.group().barrier());
      return processes;
    } catch (Exception e) {
      try (processes) {
        throw e;
      }
    }
  }

  @Override
  public List<String> directories() {
    return List.of(root, lanes);
  }

  @Override
  public RankEnv enter(Meeting meeting, Duration timeout) throws IOException {
    ProcessDirectory directory = ProcessDirectory.acquire(Path.of(lanes));
    LaneExchange exchange = LaneExchange.overFiles(directory);
    Communicator group = null;
    try {
      group = FilesBackend.join(exchange, meeting, timeout);
      MpiTransport transport = join(meeting);
      return new RankEnv(
          meeting,
          group,
          transport,
          StoreOptions.defaults()
              .sharedMemory(Path.of(root))
              .shortcut(false)
              .readTimeout(READ_TIMEOUT),
          owner -> ReadPath.REMOTE) {
        @Override
        protected void released() {
          transport.release();
        }

        @Override
        public void close() {
          super.close();
          transport.close();
          leave(exchange, directory);
        }
      };
    } catch (IOException | RuntimeException e) {
      if (group != null) {
        group.close();
      }
      leave(exchange, directory);
      throw e;
    }
  }

  MpiTransport join(Meeting meeting) throws IOException {
    return join(meeting, Duration.ofMinutes(1));
  }

  /**
   * As above.
   *
   * @param timeout how long ranks wait for each other
   */
  MpiTransport join(Meeting meeting, Duration timeout) throws IOException {
    ProcessDirectory directory = ProcessDirectory.acquire(Path.of(lanes));
    LaneExchange exchange = LaneExchange.overFiles(directory);
    try (Communicator ranks = FilesBackend.join(exchange, meeting, Duration.ofMinutes(1))) {
      return Mpi.join(ranks, 0, options(meeting, ProcessDirectory.SHARED_MEMORY, timeout));
    } finally {
      leave(exchange, directory);
    }
  }

  /**
   * @param directory under which MPI has its files
   */
  static MpiOptions options(Meeting meeting, Path directory) {
    return options(meeting, directory, Duration.ofMinutes(1));
  }

  private static MpiOptions options(Meeting meeting, Path directory, Duration timeout) {
    return new MpiOptions(
        new ProcessAddress(meeting.address(), PORT, new SecureRandom().nextLong()),
        directory,
        READ_TIMEOUT.plusSeconds(10),
        timeout);
  }

  private static void leave(LaneExchange exchange, ProcessDirectory directory) {
    exchange.close();
    directory.release();
  }
}
