package org.ddstore.spark.config;

import java.util.List;

/** Names of transports, as {@code spark.ddstore.transport} takes them. */
public final class TransportNames {
  /** Chooses {@link #FABRIC} where all ranks have RDMA hardware, else tcp. */
  public static final String AUTO = "auto";

  /** libfabric. */
  public static final String FABRIC = "fabric";

  /** Windows of Open MPI. */
  public static final String MPI = "mpi";

  /** All names that the setting takes. */
  public static final List<String> ALL = List.of(AUTO, "tcp", FABRIC, MPI);

  private TransportNames() {}
}
