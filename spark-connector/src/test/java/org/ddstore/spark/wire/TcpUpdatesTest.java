// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import org.ddstore.hosts.NeedsTwoHosts;

/** Over tcp. */
@NeedsTwoHosts
class TcpUpdatesTest extends UpdatesContract {
  TcpUpdatesTest() {
    super(TcpBackend::plain);
  }
}
