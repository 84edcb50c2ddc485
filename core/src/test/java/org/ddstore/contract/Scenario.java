// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.io.Serializable;

/**
 * The work of each rank in a test, the same code in threads and in processes. A scenario may
 * capture serializable values, but no test instance, and closes what it opens.
 */
@FunctionalInterface
public interface Scenario extends Serializable {
  void run(RankEnv rank) throws Exception;
}
