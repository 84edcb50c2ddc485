// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import java.util.Map;
import org.ddstore.types.DDStoreException;

/**
 * The job description that mpirun passes to a process that it starts.
 *
 * @param rank rank of this process, in [0, size)
 * @param size number of processes started together
 * @param localSize number of those processes on this host
 */
record Launch(int rank, int size, int localSize) {
  private static final String SIZE = "OMPI_COMM_WORLD_SIZE";
  private static final String REMEDY = "start it as in: mpirun -n 4 java ..";

  /** Variable set by the mpirun of MPICH and its derivatives, and by {@code srun --mpi=pmi2}. */
  private static final String OTHER_MPI = "PMI_SIZE";

  /**
   * Reads the environment of a process.
   *
   * @throws DDStoreException if the process was not started by mpirun of Open MPI
   */
  static Launch parse(Map<String, String> environment) {
    if (!environment.containsKey(SIZE)) {
      throw new DDStoreException(
          environment.containsKey(OTHER_MPI)
              ? "this process was not started by mpirun of Open MPI (%s is set, as by MPICH and by srun with pmi2; %s is not): use mpirun of Open MPI 4, also inside an allocation of Slurm"
                  .formatted(OTHER_MPI, SIZE)
              : "this process was not started by mpirun of Open MPI (%s is not set): %s"
                  .formatted(SIZE, REMEDY));
    }
    return new Launch(
        number(environment, "OMPI_COMM_WORLD_RANK"),
        number(environment, SIZE),
        number(environment, "OMPI_COMM_WORLD_LOCAL_SIZE"));
  }

  private static int number(Map<String, String> environment, String name) {
    String value = String.valueOf(environment.get(name));
    try {
      return Integer.parseInt(value);
    } catch (NumberFormatException e) {
      throw new DDStoreException(
          "environment variable %s is \"%s\", not a number: %s".formatted(name, value, REMEDY), e);
    }
  }

  boolean spansHosts() {
    return localSize < size;
  }
}
