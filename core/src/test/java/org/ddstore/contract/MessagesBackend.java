// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.ddstore.StoreOptions;
import org.ddstore.collective.LaneExchange;
import org.ddstore.collective.SocketMessenger;
import org.ddstore.types.ReadPath;

/**
 * Ranks of one host that read each other's files, and whose collectives are messages over sockets.
 *
 * @param root of the stores' files
 */
record MessagesBackend(String root) implements RankBackend {
  @Override
  public List<String> directories() {
    return List.of(root);
  }

  @Override
  public RankEnv enter(Meeting meeting, Duration timeout) throws IOException {
    SocketMessenger messenger = SocketMessenger.open();
    LaneExchange exchange = LaneExchange.overMessages(messenger);
    try {
      return new RankEnv(
          meeting,
          FilesBackend.join(exchange, meeting, timeout),
          null,
          StoreOptions.defaults().sharedMemory(Path.of(root)),
          owner -> owner == meeting.rank() ? ReadPath.OWN_PROCESS : ReadPath.SAME_HOST) {
        @Override
        public void close() {
          super.close();
          exchange.close();
          messenger.close();
        }
      };
    } catch (IOException | RuntimeException e) {
      exchange.close();
      messenger.close();
      throw e;
    }
  }
}
