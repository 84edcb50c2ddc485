package org.ddstore.mpi;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
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
   * @param launchers how variables begin of which one has to be there; none if it does not matter
   * @param includes by their names
   * @param reason why not
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
      "how crowded the hosts are by the job's processes, which are not our ranks";

  /**
   * What would keep MPI from finding us is hidden whoever has said it. The rest does no harm where
   * there is no launcher: then it is the user's word.
   */
  private static final List<Rule> RULES =
      List.of(
          new Rule(
              List.of(),
              "OMPI_MCA_pmix"::equals,
              "MPI has to ask our process manager: that of a job knows nothing of our ranks"),
          new Rule(
              List.of(),
              name -> name.equals("OMPI_MCA_ess") || name.startsWith("OMPI_MCA_ess_"),
              "MPI has to start as our process manager says: a job has started its processes in another way, and numbered them"),
          new Rule(
              List.of(),
              name -> name.startsWith("OMPI_MCA_orte_") && name.endsWith("_uri"),
              "a daemon, which MPI would go to: it knows nothing of our ranks"),
          new Rule(
              List.of(MPIRUN, SRUN),
              name -> name.startsWith("OMPI_MCA_orte_") && !name.endsWith("_uri"),
              "the job's folders, number of processes and keys for its networks"),
          new Rule(List.of(MPIRUN, SRUN), "OMPI_MCA_mpi_oversubscribe"::equals, CROWDED),
          // What mpirun of some releases says.
          new Rule(List.of(MPIRUN), "OMPI_MCA_mpi_yield_when_idle"::equals, CROWDED));

  private OuterJob() {}

  /**
   * What an environment has of it.
   *
   * @param environment of this process
   * @return names of variables, with the reason why MPI must not see them
   */
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
