package org.ddstore.mpi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Map;
import org.ddstore.DDStoreException;
import org.junit.jupiter.api.Test;

/** What MPI is made to choose, and that the user's word counts. */
class WorldEnvironmentTest {
  private static WorldEnvironment of(Map<String, String> users, boolean hosts, boolean rdma) {
    return WorldEnvironment.of(users, hosts, rdma, "127.0.0.1", false, Path.of("/dev/shm"));
  }

  @Test
  void oneHostReadsByMemoryAndOpensNoPort() {
    WorldEnvironment environment = of(Map.of(), false, true);
    assertThat(environment.value("OMPI_MCA_btl")).isEqualTo("vader,self");
    assertThat(environment.value("OMPI_MCA_osc")).startsWith("rdma");
    assertThat(environment.needsProgress(true)).isFalse();
    assertThat(environment.needsProgress(false)).as("if a container forbids it").isTrue();
  }

  @Test
  void hostsReadByTcpOnTheInterfaceOfSparksAddress() {
    WorldEnvironment environment = of(Map.of(), true, false);
    assertThat(environment.value("OMPI_MCA_osc")).isEqualTo("pt2pt");
    assertThat(environment.value("OMPI_MCA_btl_tcp_if_include")).isEqualTo("lo");
    assertThat(environment.needsProgress(true)).isTrue();
  }

  @Test
  void hostsWithRdmaReadByUcx() {
    WorldEnvironment environment = of(Map.of(), true, true);
    assertThat(environment.value("OMPI_MCA_osc")).isEqualTo("ucx");
    assertThat(environment.value("OMPI_MCA_pml")).isEqualTo("ucx");
  }

  @Test
  void whatTheUserHasSetStays() {
    WorldEnvironment environment = of(Map.of("OMPI_MCA_osc", "sm"), false, false);
    assertThat(environment.value("OMPI_MCA_osc")).isEqualTo("sm");
    assertThat(environment.ours())
        .extracting(WorldEnvironment.Variable::name)
        .doesNotContain("OMPI_MCA_osc")
        .contains("OMPI_MCA_pml");
  }

  @Test
  void everyVariableHasItsReason() {
    for (boolean hosts : new boolean[] {false, true}) {
      assertThat(of(Map.of(), hosts, hosts).ours()).noneMatch(each -> each.reason().isBlank());
    }
  }

  @Test
  void anotherProcessManagerIsRefused() {
    WorldEnvironment environment = of(Map.of("OMPI_MCA_pmix", "ext3x"), false, false);
    assertThatThrownBy(environment::check)
        .isInstanceOf(DDStoreException.class)
        .hasMessageContaining("OMPI_MCA_pmix=ext3x");
  }
}
