// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import org.ddstore.hosts.NeedsTwoHosts;
import org.junit.jupiter.api.Tag;

/** Over tcp, served by Java. */
@NeedsTwoHosts
@Tag("slow")
class TcpByJavaReadFaultsTest extends ReadFaultsContract {
  TcpByJavaReadFaultsTest() {
    super(TcpBackend::byJava);
  }
}
