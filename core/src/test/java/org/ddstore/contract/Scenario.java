// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.io.Serializable;

/**
 * What each rank does in a test; the same code in threads and in processes. It may capture values
 * that can be serialized, and no test instance. Whatever it opens, it closes.
 */
@FunctionalInterface
public interface Scenario extends Serializable {
  void run(RankEnv rank) throws Exception;
}
