// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

/** The same if Java receives all replies, as it does without the library. */
class DataRepliesByJavaTest extends DataRepliesTest {
  @Override
  boolean mayUseC() {
    return false;
  }
}
