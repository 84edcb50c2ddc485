// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

/** The same if Java answers all requests, as it does without the library. */
class OutsidersByJavaTest extends OutsidersTest {
  @Override
  boolean inC() {
    return false;
  }
}
