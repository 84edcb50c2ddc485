// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * The variables of an mpirun or srun job that encloses a process which joins its own MPI world.
 * Such a launcher sets variables for its own job, not on behalf of the user, and they must not
 * reach MPI: a Spark cluster that was started by {@code mpirun -n 1} on each host is not a world of
 * one rank.
 */
final class EnclosingJob {
  /**
   * A rule for variables that MPI must not see.
   *
   * @param launchers prefixes of variable names of which one must be present; empty if the rule
   *     always applies
   * @param includes names of the hidden variables
   * @param reason reason for hiding them
   */
  private record Rule(List<String> launchers, Predicate<String> includes, String reason) {
    boolean holdsIn(Map<String, String> environment) {
      return launchers.isEmpty()
          || environment.keySet().stream()
              .anyMatch(name -> launchers.stream().anyMatch(name::startsWith));
    }
  }

  private static final String MPIRUN = "OMPI_COMM_WORLD_";
  private static final String SRUN = "SLURM_";

  private static final String CROWDED =
      "describes the processes of the outer job, not the ranks of the store";

  /**
   * Variables that would keep MPI from finding this library's process manager are always hidden.
   * The others are harmless without a launcher, where they are the user's choice.
   */
  private static final List<Rule> RULES =
      List.of(
          new Rule(
              List.of(),
              "OMPI_MCA_pmix"::equals,
              "MPI must use the process manager of DDStore: that of a job does not know the ranks"),
          new Rule(
              List.of(),
              name -> name.equals("OMPI_MCA_ess") || name.startsWith("OMPI_MCA_ess_"),
              "MPI must start as the process manager of DDStore determines: a job starts and numbers its own processes"),
          new Rule(
              List.of(),
              name -> name.startsWith("OMPI_MCA_orte_") && name.endsWith("_uri"),
              "address of a daemon of the job, which does not know the ranks"),
          new Rule(
              List.of(MPIRUN, SRUN),
              name -> name.startsWith("OMPI_MCA_orte_") && !name.endsWith("_uri"),
              "directories, process count and network keys of the job"),
          new Rule(List.of(MPIRUN, SRUN), "OMPI_MCA_mpi_oversubscribe"::equals, CROWDED),
          // Set by mpirun of some releases.
          new Rule(List.of(MPIRUN), "OMPI_MCA_mpi_yield_when_idle"::equals, CROWDED));

  private EnclosingJob() {}

  /** Returns the variables of the outer job, with the reasons why MPI must not see them. */
  static Map<String, String> variables(Map<String, String> environment) {
    List<Rule> rules = RULES.stream().filter(rule -> rule.holdsIn(environment)).toList();
    Map<String, String> found = new TreeMap<>();
    for (String name : environment.keySet()) {
      rules.stream()
          .filter(rule -> rule.includes().test(name))
          .forEach(rule -> found.put(name, rule.reason()));
    }
    return found;
  }
}
