package org.ddstore.spark.config;

import java.util.List;

/** The names of transports in {@code spark.ddstore.transport}. */
public final class TransportNames {
  /** Uses {@link #FABRIC} if all ranks have RDMA hardware, else tcp. */
  public static final String AUTO = "auto";

  /** Uses libfabric. */
  public static final String FABRIC = "fabric";

  /** Uses windows of Open MPI. */
  public static final String MPI = "mpi";

  /** All legal values of the setting. */
  public static final List<String> ALL = List.of(AUTO, "tcp", FABRIC, MPI);

  private TransportNames() {}
}
