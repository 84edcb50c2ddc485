package org.ddstore.mpi;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * The job of mpirun or srun inside of which a process may run that joins a world of ours. What such
 * a launcher has said of its own job is not said by the user, and must not reach MPI: a cluster of
 * Spark that was started by {@code mpirun -n 1} on each host is no world of one rank.
 */
final class OuterJob {
  /**
   * Variables that MPI must not see.
   *
   * @param includes by their names
   * @param reason why not
   */
  private record Rule(Predicate<String> includes, String reason) {}

  private static final String STARTED_BY_MPIRUN = "OMPI_COMM_WORLD_SIZE";

  private static final String CROWDED =
      "how crowded the hosts are by the job's processes, which are not our ranks";

  private static final List<Rule> RULES =
      List.of(
          new Rule(
              "OMPI_MCA_pmix"::equals,
              "the process manager of the job, which knows nothing of our ranks"),
          new Rule(
              name -> name.equals("OMPI_MCA_ess") || name.startsWith("OMPI_MCA_ess_"),
              "how the job started its processes, and which of them this one is"),
          new Rule(
              name -> name.startsWith("OMPI_MCA_orte_"),
              "the job's daemons, folders, number of processes and keys for its networks"),
          new Rule("OMPI_MCA_mpi_oversubscribe"::equals, CROWDED));

  /** What mpirun of some releases says; outside of one it is the user's word. */
  private static final Rule YIELDS = new Rule("OMPI_MCA_mpi_yield_when_idle"::equals, CROWDED);

  private OuterJob() {}

  /**
   * What an environment has of it.
   *
   * @param environment of this process
   * @return names of variables, with the reason why MPI must not see them
   */
  static Map<String, String> variables(Map<String, String> environment) {
    Map<String, String> found = new LinkedHashMap<>();
    environment.keySet().stream()
        .sorted()
        .forEach(
            name -> {
              for (Rule rule : RULES) {
                if (rule.includes().test(name)) {
                  found.put(name, rule.reason());
                }
              }
              if (environment.containsKey(STARTED_BY_MPIRUN) && YIELDS.includes().test(name)) {
                found.put(name, YIELDS.reason());
              }
            });
    return found;
  }
}
