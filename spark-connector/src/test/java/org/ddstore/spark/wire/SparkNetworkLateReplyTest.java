// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import org.ddstore.hosts.NeedsTwoHosts;
import org.junit.jupiter.api.Tag;

/** Over Spark's network. */
@NeedsTwoHosts
@Tag("slow")
class SparkNetworkLateReplyTest extends LateReplyContract {
  SparkNetworkLateReplyTest() {
    super(TcpBackend::overSparksNetwork, TcpBackend::session, 3);
  }
}
