// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import org.ddstore.hosts.NeedsTwoHosts;
import org.junit.jupiter.api.Tag;

/** Over tcp, served by Java. */
@NeedsTwoHosts
@Tag("slow")
class TcpByJavaLateReplyTest extends LateReplyContract {
  TcpByJavaLateReplyTest() {
    super(TcpBackend::byJava, TcpBackend::session, 1);
  }
}
