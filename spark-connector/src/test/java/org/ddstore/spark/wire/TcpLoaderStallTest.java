// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

class TcpLoaderStallTest extends LoaderStallContract {
  TcpLoaderStallTest() {
    super(TcpBackend::plain);
  }
}
