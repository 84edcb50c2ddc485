// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

/** Over tcp. */
class TcpLoaderStallTest extends LoaderStallContract {
  TcpLoaderStallTest() {
    super(TcpBackend::plain);
  }
}
