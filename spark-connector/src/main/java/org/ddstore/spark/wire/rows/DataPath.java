// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

import org.ddstore.spark.wire.connection.Connection;

/**
 * The path to the rows of a process.
 *
 * @param connection connection on which the token is proved
 * @param channel data channel; null if requests use the connection
 */
public record DataPath(Connection connection, DataChannel channel) {
  void closeChannel() {
    if (channel != null) {
      channel.close();
    }
  }
}
