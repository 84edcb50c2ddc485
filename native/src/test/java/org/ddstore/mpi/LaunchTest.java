// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Map;
import org.ddstore.types.DDStoreException;
import org.junit.jupiter.api.Test;

class LaunchTest {
  @Test
  void readsRankAndSizesFromTheVariablesOfMpirun() {
    Launch launch =
        Launch.parse(
            Map.of(
                "OMPI_COMM_WORLD_RANK", "2",
                "OMPI_COMM_WORLD_SIZE", "4",
                "OMPI_COMM_WORLD_LOCAL_SIZE", "2"));
    assertThat(launch).isEqualTo(new Launch(2, 4, 2));
    assertThat(launch.spansHosts()).isTrue();
    assertThat(new Launch(0, 4, 4).spansHosts()).isFalse();
  }

  @Test
  void rejectsProcessesNotStartedByMpirun() {
    assertThatThrownBy(() -> Launch.parse(Map.of("PMI_RANK", "0", "PMI_SIZE", "4")))
        .isInstanceOf(DDStoreException.class)
        .hasMessageContaining("not started by mpirun of Open MPI (PMI_SIZE is set");
    assertThatThrownBy(() -> Launch.parse(Map.of()))
        .isInstanceOf(DDStoreException.class)
        .hasMessageContaining("mpirun -n 4 java ..");
    assertThatThrownBy(() -> Launch.parse(Map.of("OMPI_COMM_WORLD_SIZE", "4")))
        .isInstanceOf(DDStoreException.class)
        .hasMessageContaining("OMPI_COMM_WORLD_RANK is \"null\", not a number");
  }

  @Test
  void leavesMpirunItsOwnVariables() {
    WorldEnvironment environment =
        WorldEnvironment.ofLaunched(
            Map.of(), new WorldEnvironment.Ranks(true, false, true, false), Path.of("/nowhere"));
    assertThat(environment.ours())
        .extracting(WorldEnvironment.Variable::name)
        .contains("OMPI_MCA_osc", "OMPI_MCA_btl_vader_backing_directory")
        .doesNotContain(
            "OMPI_MCA_pmix", "OMPI_MCA_btl_tcp_if_include", "OMPI_MCA_orte_create_session_dirs");
    assertThat(environment.value("OMPI_MCA_osc")).isEqualTo("pt2pt");
  }
}
