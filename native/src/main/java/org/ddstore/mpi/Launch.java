package org.ddstore.mpi;

import java.util.Map;
import org.ddstore.types.DDStoreException;

/**
 * What mpirun tells a process that it has started.
 *
 * @param rank of this process, of [0, size)
 * @param size processes that were started together
 * @param localSize those of them on this host
 */
record Launch(int rank, int size, int localSize) {
  private static final String SIZE = "OMPI_COMM_WORLD_SIZE";
  private static final String REMEDY = "start it as in: mpirun -n 4 java ..";

  /** Tells MPICH, and what comes of it, by what its mpirun sets. */
  private static final String OTHER_MPI = "PMI_SIZE";

  /**
   * Reads the environment of a process.
   *
   * @throws DDStoreException if it was not started by mpirun of Open MPI
   */
  static Launch parse(Map<String, String> environment) {
    if (!environment.containsKey(SIZE)) {
      throw new DDStoreException(
          environment.containsKey(OTHER_MPI)
              ? "this process was started by another MPI than Open MPI (%s is set, %s is not): use the mpirun of Open MPI 4"
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
          "%s is \"%s\", which is no number: %s".formatted(name, value, REMEDY), e);
    }
  }

  boolean spansHosts() {
    return localSize < size;
  }
}
