// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import org.ddstore.hosts.NeedsTwoHosts;

/** Over tcp. */
@NeedsTwoHosts
class TcpReadFaultsTest extends ReadFaultsContract {
  TcpReadFaultsTest() {
    super(TcpBackend::plain);
  }
}
