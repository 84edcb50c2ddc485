// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import org.junit.jupiter.api.Tag;

/** Over Spark's network. */
@Tag("slow")
class SparkNetworkLoaderStallTest extends LoaderStallContract {
  SparkNetworkLoaderStallTest() {
    super(TcpBackend::overSparksNetwork);
  }
}
