// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import org.junit.jupiter.api.Tag;

@Tag("slow")
class SparkNetworkLoaderStallTest extends LoaderStallContract {
  SparkNetworkLoaderStallTest() {
    super(TcpBackend::overSparksNetwork);
  }
}
