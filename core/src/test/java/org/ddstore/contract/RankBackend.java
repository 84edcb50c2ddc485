// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.io.Serializable;
import java.time.Duration;
import java.util.List;

/**
 * The backend over which ranks that are processes run scenarios. Made by the test, copied into each
 * process, and used there from scenario to scenario.
 */
public interface RankBackend extends Serializable {
  /**
   * Directories, as absolute paths, that are made for the ranks on each host, must be empty after
   * each scenario, and are deleted in the end.
   */
  List<String> directories();

  /** Returns the options that the JVM of a rank needs besides {@link ChildJvm#command()}. */
  default List<String> jvmOptions() {
    return List.of();
  }

  /**
   * Prepares a rank for a scenario. Collective, called in the rank's process.
   *
   * @param meeting to exchange addresses
   * @param timeout of the collectives of the store's group
   * @return closed when the scenario has ended on this rank
   */
  RankEnv enter(Meeting meeting, Duration timeout) throws Exception;
}
