// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend.mpi;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.apache.spark.SparkContext;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.mpi.Mpi;
import org.ddstore.mpi.MpiOptions;
import org.ddstore.mpi.MpiTransport;
import org.ddstore.spark.backend.AttemptPolicy;
import org.ddstore.spark.backend.DualTransport;
import org.ddstore.spark.backend.ExecutorSlots;
import org.ddstore.spark.backend.OpenTransport;
import org.ddstore.spark.backend.RankPlace;
import org.ddstore.spark.backend.SharedLoss;
import org.ddstore.spark.backend.StoreNetwork;
import org.ddstore.spark.backend.TransportBackend;
import org.ddstore.spark.backend.TransportOffer;
import org.ddstore.spark.backend.TransportStart;
import org.ddstore.spark.types.PreflightException.Problem;
import org.ddstore.transport.Availability;

/**
 * The {@code mpi} transport: windows of Open MPI, with one rank per executor. Executors that have
 * run the ranks of a store stay in one MPI world, which is replaced as a whole.
 */
public final class MpiTransportBackend implements TransportBackend {
  /** Time after the read timeout before MPI ends its process, so that a late read fails first. */
  private static final Duration GRACE = Duration.ofSeconds(10);

  @Override
  public String name() {
    return "mpi";
  }

  @Override
  public int order() {
    return 30;
  }

  @Override
  public String summary() {
    return "uses windows of Open MPI, with one rank per executor";
  }

  @Override
  public Availability availability() {
    return Mpi.availability();
  }

  @Override
  public Optional<String> residentProblem() {
    return Optional.of("its windows end with the job");
  }

  /** Returns a problem if executors have several slots, because an MPI rank is a process. */
  @Override
  public List<Problem> preflight(int ranks, ExecutorSlots slots) {
    if (ranks <= 1 || slots.maxPerExecutor() <= 1) {
      return List.of();
    }
    return List.of(
        new Problem(
            "MPI allows one rank per JVM, and an executor has %d slots"
                .formatted(slots.maxPerExecutor()),
            slots.isLocal()
                ? "a master with separate executor JVMs, such as local-cluster[%d,1,1024]"
                    .formatted(ranks)
                : "%d executors with spark.executor.cores equal to spark.task.cpus (%d)"
                    .formatted(ranks, slots.cpusPerTask())));
  }

  @Override
  public TransportOffer offer(RankPlace place, boolean isAuto) {
    return MpiTransportBackend::open;
  }

  /** Serves the rows over the network as well, to replica groups, for which MPI has no windows. */
  private static OpenTransport open(TransportStart start, String reason) {
    StoreNetwork network = start.network();
    MpiTransport mpi =
        Mpi.join(
            start.ranks(),
            start.group(),
            new MpiOptions(
                network.local(),
                ProcessDirectory.SHARED_MEMORY,
                start.readTimeout().plus(GRACE),
                start.collectiveTimeout()));
    return new OpenTransport(network, new DualTransport(mpi, network), network, reason, mpi::close);
  }

  @Override
  public void failedBeforeStart(Throwable failure, int rank) {
    BeforeWorld.mark(failure, rank);
  }

  @Override
  public AttemptPolicy attempts(
      SparkContext context, int ranks, Function<Set<String>, List<String>> lossWith) {
    return new MpiAttempts(context, ranks, lossWith);
  }

  @Override
  public List<SharedLoss> sharedLosses(SparkContext context) {
    return MpiWorlds.of(context).all().stream().map(MpiAttempts::sharedLoss).toList();
  }
}
