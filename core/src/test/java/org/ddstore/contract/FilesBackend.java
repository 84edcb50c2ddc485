// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.ddstore.StoreOptions;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.GroupEndpoint;
import org.ddstore.collective.LaneExchange;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.types.Backing;
import org.ddstore.types.ReadPath;

/**
 * Ranks of one host that map each other's files.
 *
 * @param root of the stores' files
 * @param lanes of the files over which the group talks
 */
public record FilesBackend(Backing backing, String root, String lanes) implements RankBackend {
  @Override
  public List<String> directories() {
    return List.of(root, lanes);
  }

  @Override
  public RankEnv enter(Meeting meeting, Duration timeout) throws IOException {
    StoreOptions options =
        backing == Backing.FILE
            ? StoreOptions.defaults().files(Path.of(root))
            : StoreOptions.defaults().sharedMemory(Path.of(root));
    ProcessDirectory directory = ProcessDirectory.acquire(Path.of(lanes));
    LaneExchange exchange = LaneExchange.overFiles(directory);
    try {
      return new RankEnv(
          meeting,
          join(exchange, meeting, timeout),
          null,
          options,
          owner -> owner == meeting.rank() ? ReadPath.OWN_PROCESS : ReadPath.SAME_HOST) {
        @Override
        public void close() {
          super.close();
          leave(exchange, directory);
        }
      };
    } catch (IOException | RuntimeException e) {
      leave(exchange, directory);
      throw e;
    }
  }

  private static void leave(LaneExchange exchange, ProcessDirectory directory) {
    exchange.close();
    directory.release();
  }

  public static Communicator join(LaneExchange exchange, Meeting meeting, Duration timeout)
      throws IOException {
    try (GroupEndpoint endpoint = GroupEndpoint.create(exchange, meeting.rank(), meeting.ranks())) {
      return endpoint.connect(Arrays.asList(meeting.tell(endpoint.address())), timeout);
    }
  }
}
