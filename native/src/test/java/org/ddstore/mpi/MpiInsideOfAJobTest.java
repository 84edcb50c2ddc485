// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.ddstore.Batch;
import org.ddstore.DDStore;
import org.ddstore.Tensor;
import org.ddstore.contract.Place;
import org.ddstore.contract.ProcessRanks;
import org.ddstore.contract.RankEnv;
import org.ddstore.contract.TestRoots;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Processes that become a world of ours although each belongs to a job of another launcher, as
 * executors do whose cluster a batch job has started.
 */
@Tag("system")
@NeedsMpi
@Timeout(180)
class MpiInsideOfAJobTest {
  private static final int RANKS = 3;
  private static final Duration TIME = Duration.ofMinutes(1);

  private static final Map<String, String> SLURM =
      Map.ofEntries(
          Map.entry("SLURM_JOB_ID", "17"),
          Map.entry("SLURM_JOBID", "17"),
          Map.entry("SLURM_STEP_ID", "0"),
          Map.entry("SLURM_STEPID", "0"),
          Map.entry("SLURM_STEP_NODELIST", "n[1-2]"),
          Map.entry("SLURM_JOB_NODELIST", "n[1-2]"),
          Map.entry("SLURM_NODELIST", "n[1-2]"),
          Map.entry("SLURM_TASKS_PER_NODE", "1(x2)"),
          Map.entry("SLURM_STEP_TASKS_PER_NODE", "1(x2)"),
          Map.entry("SLURM_NTASKS", "2"),
          Map.entry("SLURM_NPROCS", "2"),
          Map.entry("SLURM_PROCID", "1"),
          Map.entry("SLURM_LOCALID", "0"),
          Map.entry("SLURM_NODEID", "1"),
          Map.entry("PMI_RANK", "1"),
          Map.entry("PMI_SIZE", "2"),
          Map.entry("PMI_FD", "999"),
          Map.entry("PMI_JOBID", "17.0"));

  private static void runIn(Place job) throws Exception {
    MpiBackend backend =
        new MpiBackend(TestRoots.sharedMemory().toString(), TestRoots.sharedMemory().toString());
    try (ProcessRanks ranks = new ProcessRanks(backend, List.of(job))) {
      ranks.run(RANKS, TIME, MpiInsideOfAJobTest::readAll);
      ranks.run(RANKS, TIME, MpiInsideOfAJobTest::readAll);
    }
  }

  @Test
  void processesOfMpirunJobsJoinOneWorld(@TempDir Path sessions) throws Exception {
    List<String> mpirun =
        List.of("mpirun", "-n", "1", "--mca", "orte_tmpdir_base", sessions.toString());
    // Containers run as root, and mpirun wants to be told twice that this is meant.
    Map<String, String> asRoot =
        Map.of("OMPI_ALLOW_RUN_AS_ROOT", "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    runIn(new LaunchedPlace(mpirun, asRoot));
    assertThat(sessions).as("files of mpirun left").isEmptyDirectory();
  }

  /** Slurm itself is not there: its variables are, and a process manager that does not answer. */
  @Test
  void processesOfSlurmJobsJoinOneWorld() throws Exception {
    runIn(new LaunchedPlace(List.of(), SLURM));
  }

  /** As in the profile of a user who starts other programs by mpirun. */
  @Test
  void ignoresTheUsersMpirunSettings(@TempDir Path sessions) throws Exception {
    runIn(
        new LaunchedPlace(
            List.of(),
            Map.of(
                "OMPI_MCA_orte_tmpdir_base", sessions.toString(),
                "OMPI_MCA_orte_default_hostfile", "/nowhere/hosts",
                "OMPI_MCA_orte_top_session_dir", "/nowhere/top",
                "OMPI_MCA_orte_jobfam_session_dir", "/nowhere/jobs",
                "OMPI_MCA_orte_ess_num_procs", "1",
                "OMPI_MCA_orte_num_nodes", "1",
                "OMPI_MCA_orte_hnp_uri", "1;tcp://127.0.0.1:1",
                "OMPI_MCA_mpi_oversubscribe", "0")));
    assertThat(sessions).as("files of MPI left").isEmptyDirectory();
  }

  private static void readAll(RankEnv rank) {
    assertThat(System.getenv())
        .as("the environment of a job, or of a user")
        .containsAnyOf(
            Map.entry("OMPI_COMM_WORLD_SIZE", "1"),
            Map.entry("SLURM_NTASKS", "2"),
            Map.entry("OMPI_MCA_mpi_oversubscribe", "0"));
    try (DDStore store = rank.open()) {
      store.add("x", Tensor.wrap(new long[] {rank.rank(), 10 + rank.rank()}));
      try (Batch batch = store.getBatch("x", 5, 3, 2, 0)) {
        assertThat(batch.field("x").toLongArray()).containsExactly(12, 11, 1, 0);
      }
      rank.group().barrier();
    }
    rank.meet();
  }
}
