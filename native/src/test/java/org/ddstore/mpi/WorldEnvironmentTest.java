// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Settings that MPI is started with; settings of the user take precedence. */
class WorldEnvironmentTest {
  private static WorldEnvironment of(Map<String, String> users, boolean hosts, boolean rdma) {
    return of(users, new WorldEnvironment.Ranks(hosts, rdma, true, false));
  }

  private static WorldEnvironment of(Map<String, String> users, WorldEnvironment.Ranks ranks) {
    return WorldEnvironment.of(users, ranks, "127.0.0.1", Path.of("/dev/shm"));
  }

  @Test
  void singleHostReadsMemoryAndOpensNoPort() {
    WorldEnvironment environment = of(Map.of(), false, true);
    assertThat(environment.value("OMPI_MCA_btl")).isEqualTo("vader,self");
    assertThat(environment.value("OMPI_MCA_osc")).startsWith("rdma");
    assertThat(environment.value("OMPI_MCA_btl_vader_single_copy_mechanism")).isEqualTo("cma");
    assertThat(environment.needsProgress()).isFalse();
  }

  @Test
  void needsProgressIfARankMayNotReadOthersMemory() {
    WorldEnvironment environment =
        of(Map.of(), new WorldEnvironment.Ranks(false, false, false, false));
    assertThat(environment.value("OMPI_MCA_btl_vader_single_copy_mechanism")).isNull();
    assertThat(environment.needsProgress()).isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "OMPI_MCA_btl_vader_single_copy_mechanism, none",
    "OMPI_MCA_btl, 'vader,self,tcp'",
    "OMPI_MCA_pml, ucx",
    "OMPI_MCA_osc, pt2pt",
  })
  void needsProgressIfTheUserSelectsATransport(String name, String value) {
    WorldEnvironment environment = of(Map.of(name, value), false, false);
    assertThat(environment.value(name)).isEqualTo(value);
    assertThat(environment.needsProgress()).isTrue();
    assertThat(WorldEnvironment.choices(Map.of(name, value)))
        .contains(name + "=" + value)
        .isNotEqualTo(WorldEnvironment.choices(Map.of()));
  }

  @Test
  void severalHostsUseTcpOnTheInterfaceOfSpark() {
    WorldEnvironment environment = of(Map.of(), true, false);
    assertThat(environment.value("OMPI_MCA_osc")).isEqualTo("pt2pt");
    assertThat(environment.value("OMPI_MCA_btl_tcp_if_include")).isEqualTo("lo");
    assertThat(environment.needsProgress()).isTrue();
  }

  @Test
  void severalHostsWithRdmaUseUcx() {
    WorldEnvironment environment = of(Map.of(), true, true);
    assertThat(environment.value("OMPI_MCA_osc")).isEqualTo("ucx");
    assertThat(environment.value("OMPI_MCA_pml")).isEqualTo("ucx");
  }

  @Test
  void keepsTheVariablesSetByTheUser() {
    WorldEnvironment environment = of(Map.of("OMPI_MCA_osc", "sm"), false, false);
    assertThat(environment.value("OMPI_MCA_osc")).isEqualTo("sm");
    assertThat(environment.ours())
        .extracting(WorldEnvironment.Variable::name)
        .doesNotContain("OMPI_MCA_osc")
        .contains("OMPI_MCA_pml");
  }

  @Test
  void everyVariableHasAReason() {
    for (boolean hosts : new boolean[] {false, true}) {
      WorldEnvironment environment = of(Map.of(), hosts, hosts);
      environment.identify(17, "/ours.so");
      assertThat(environment.ours()).noneMatch(each -> each.reason().isBlank());
    }
  }

  /** As mpirun says it to each of its processes. */
  @Test
  void hidesTheVariablesOfAnotherMpirunJob() {
    WorldEnvironment environment =
        of(
            Map.of(
                "OMPI_COMM_WORLD_SIZE", "1",
                "OMPI_MCA_pmix", "^s1,s2,cray",
                "OMPI_MCA_ess", "^singleton",
                "OMPI_MCA_ess_base_jobid", "1",
                "OMPI_MCA_orte_top_session_dir", "/nowhere",
                "OMPI_MCA_mpi_oversubscribe", "0",
                "OMPI_MCA_mpi_yield_when_idle", "0",
                "OMPI_MCA_osc", "sm"),
            new WorldEnvironment.Ranks(false, false, true, true));
    assertThat(environment.value("OMPI_MCA_pmix")).isEqualTo("flux");
    assertThat(environment.value("OMPI_MCA_mpi_yield_when_idle")).isEqualTo("1");
    assertThat(environment.value("OMPI_MCA_osc")).as("the user's own").isEqualTo("sm");
    assertThat(environment.hidden())
        .containsOnlyKeys(
            "OMPI_MCA_pmix",
            "OMPI_MCA_ess",
            "OMPI_MCA_ess_base_jobid",
            "OMPI_MCA_orte_top_session_dir",
            "OMPI_MCA_mpi_oversubscribe",
            "OMPI_MCA_mpi_yield_when_idle");
    assertThat(environment.hidden().values()).noneMatch(String::isBlank);
  }

  @ParameterizedTest
  @ValueSource(strings = {"SLURM_JOB_ID", "OMPI_COMM_WORLD_RANK"})
  void hidesLaunchSettingsInsideALaunchedJob(String launcher) {
    Map<String, String> users =
        Map.of(
            launcher,
            "17",
            "OMPI_MCA_orte_precondition_transports",
            "1-2",
            "OMPI_MCA_mpi_oversubscribe",
            "0");
    assertThat(of(users, false, false).hidden())
        .containsOnlyKeys("OMPI_MCA_orte_precondition_transports", "OMPI_MCA_mpi_oversubscribe");
  }

  @Test
  void keepsLaunchSettingsOutsideLaunchedJobs() {
    Map<String, String> users =
        Map.of(
            "OMPI_MCA_orte_create_session_dirs", "true",
            "OMPI_MCA_orte_tmpdir_base", "/scratch",
            "OMPI_MCA_mpi_oversubscribe", "0");
    WorldEnvironment environment = of(users, false, false);
    assertThat(environment.hidden()).isEmpty();
    assertThat(users)
        .allSatisfy((name, value) -> assertThat(environment.value(name)).isEqualTo(value));
  }

  /** By these MPI would not find our process manager. */
  @Test
  void hidesTheUsersStartupSettings() {
    Map<String, String> users =
        Map.of(
            "OMPI_MCA_pmix", "s2",
            "OMPI_MCA_ess", "singleton",
            "OMPI_MCA_orte_hnp_uri", "1.0;tcp://10.0.0.1:1024");
    WorldEnvironment environment = of(users, false, false);
    assertThat(environment.hidden()).containsOnlyKeys(users.keySet().toArray(String[]::new));
    assertThat(environment.value("OMPI_MCA_pmix")).isEqualTo("flux");
    assertThat(environment.value("OMPI_MCA_ess")).isNull();
  }

  @Test
  void replacesTheFluxVariablesInsideAFluxJob() {
    WorldEnvironment environment =
        of(Map.of("FLUX_JOB_ID", "3", "FLUX_PMI_LIBRARY_PATH", "/usr/lib/libpmi.so"), false, false);
    environment.identify(17, "/ours.so");
    assertThat(environment.value("FLUX_JOB_ID")).isEqualTo("17");
    assertThat(environment.value("FLUX_PMI_LIBRARY_PATH")).isEqualTo("/ours.so");
    assertThat(environment.ours())
        .extracting(WorldEnvironment.Variable::toString)
        .contains("FLUX_PMI_LIBRARY_PATH=/ours.so (the library of DDStore is the process manager)");
  }

  @Test
  void keepsTheUsersYieldSettingOutsideMpirun() {
    Map<String, String> users = Map.of("OMPI_MCA_mpi_yield_when_idle", "0");
    WorldEnvironment environment = of(users, new WorldEnvironment.Ranks(false, false, true, true));
    assertThat(environment.value("OMPI_MCA_mpi_yield_when_idle")).isEqualTo("0");
    assertThat(environment.hidden()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"ucx", "ucx,rdma"})
  void addsTheSettingsUcxNeedsWhenTheUserSelectsIt(String osc) {
    Map<String, String> users =
        Map.of("OMPI_MCA_osc", osc, "OMPI_MCA_opal_common_ucx_tls", "tcp,self");
    for (boolean hosts : new boolean[] {false, true}) {
      WorldEnvironment environment = of(users, hosts, false);
      assertThat(environment.value("OMPI_MCA_osc")).isEqualTo(osc);
      assertThat(environment.value("OMPI_MCA_pml")).isEqualTo("ucx");
      assertThat(environment.value("OMPI_MCA_opal_common_ucx_tls")).isEqualTo("tcp,self");
      assertThat(environment.value("OMPI_MCA_opal_common_ucx_devices")).isEqualTo("any");
      assertThat(environment.value("OMPI_MCA_opal_common_ucx_progress_iterations")).isEqualTo("1");
    }
  }
}
