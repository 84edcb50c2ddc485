// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The choice of an MPI by its version text. */
class OpenMpiVersionTest {
  private static final String DEBIAN =
      "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022";

  @Test
  void acceptsSeries4() {
    assertThat(OpenMpiVersion.problem(DEBIAN)).isEmpty();
    assertThat(OpenMpiVersion.shortName(DEBIAN)).isEqualTo("Open MPI 4.1.4");
  }

  @ParameterizedTest
  @CsvSource({
    "'Open MPI v5.0.3, package: Open MPI', Open MPI 5.0.3 has no PMI-1 client",
    "'Open MPI v3.1.6, package: Open MPI', Open MPI 3.1.6 is too old",
    "'MPICH Version: 4.0.2', this MPI is not Open MPI (MPICH Version: 4.0.2)",
  })
  void rejectsOtherVersionsWithTheReason(String version, String reason) {
    assertThat(OpenMpiVersion.problem(version).orElseThrow())
        .startsWith(reason)
        .contains("install Open MPI 4");
  }
}
