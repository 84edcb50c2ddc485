// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Predicate;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.ddstore.ShardWriter;
import org.ddstore.StoreInfo;
import org.ddstore.layout.ExtentMap;
import org.ddstore.memory.HostMemory;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.read.GatherKernels;
import org.ddstore.spark.Explanation.Path;
import org.ddstore.spark.Explanation.Rank;
import org.ddstore.spark.cluster.ClusterFacts;
import org.ddstore.spark.cluster.DeviceBinding;
import org.ddstore.spark.cluster.HostProbe;
import org.ddstore.spark.cluster.MemoryCheck;
import org.ddstore.spark.cluster.Preflight;
import org.ddstore.spark.cluster.SlotsWarning;
import org.ddstore.spark.config.ReplicaGroups;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.ingest.IngestPlan;
import org.ddstore.spark.ingest.ShardLoader;
import org.ddstore.spark.job.BarrierJob;
import org.ddstore.spark.resident.ResidentShards;
import org.ddstore.spark.types.HostFacts;
import org.ddstore.spark.types.PreflightException;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/** The job of a dry run: starts the ranks without rows, and explains what they observe. */
record ExplanationJob(SparkSession session, ResourceProfile profile, Settings settings, int ranks) {
  /** The observations of one rank, sent to the driver. */
  private record Observation(
      String executor,
      HostFacts host,
      String kernel,
      String transport,
      List<Path> paths,
      String device,
      List<String> deviceWarnings,
      String batches,
      long residentBytes,
      int executorsUnderLimit)
      implements Serializable {
    private static final long serialVersionUID = 1L;
  }

  /** Starts the ranks without rows and collects their observations. */
  Explanation run(IngestPlan plan) {
    List<Observation> observations = runRanks();
    List<Rank> described = new ArrayList<>();
    List<Path> paths = new ArrayList<>();
    long bytes = plan.memoryBytes();
    ReplicaGroups groups = settings.groups(ranks);
    for (int r = 0; r < ranks; r++) {
      int member = groups.memberOf(r);
      long first = ExtentMap.balancedStart(plan.rows(), member, groups.width());
      long count = ExtentMap.balancedStart(plan.rows(), member + 1, groups.width()) - first;
      long share = plan.rows() == 0 ? 0 : Math.round((double) bytes / plan.rows() * count);
      described.add(
          new Rank(
              r,
              groups.groupOf(r),
              observations.get(r).executor(),
              first,
              count,
              share,
              observations.get(r).kernel(),
              observations.get(r).host(),
              observations.get(r).device(),
              observations.get(r).batches()));
      paths.addAll(observations.get(r).paths());
    }
    return new Explanation(
        plan.rows(),
        bytes,
        plan.isSizeExact(),
        plan.schema(),
        plan.route(),
        warnings(plan, observations),
        problems(described, observations),
        groups.width(),
        described,
        observations.get(0).transport(),
        paths);
  }

  /** Starts the ranks without rows and returns what each of them reports. */
  private List<Observation> runRanks() {
    String directory =
        settings.segmentDirectory().orElse(ProcessDirectory.SHARED_MEMORY).toString();
    List<InternalRow> none = new ArrayList<>();
    return new BarrierJob(
            session,
            profile,
            settings,
            settings.groups(ranks),
            0,
            SlotsWarning.ofJob(),
            ResidentStores.of(session.sparkContext()))
        .run(
            attempt ->
                new BarrierJob.Load<>(
                    JavaSparkContext.fromSparkContext(session.sparkContext())
                        .parallelize(none, ranks)
                        .rdd(),
                    new NoRows(),
                    null,
                    new UserTaskBody<>(context -> observe(context, directory))));
  }

  /** Returns the warnings of the plan, then those of devices with their ranks joined. */
  private static List<String> warnings(IngestPlan plan, List<Observation> observations) {
    Map<String, List<String>> deviceWarnings = new LinkedHashMap<>();
    for (int r = 0; r < observations.size(); r++) {
      for (String warning : observations.get(r).deviceWarnings()) {
        deviceWarnings.computeIfAbsent(warning, added -> new ArrayList<>()).add("rank " + r);
      }
    }
    List<String> all = new ArrayList<>(plan.warnings());
    deviceWarnings.forEach((warning, ranks) -> all.add(String.join(", ", ranks) + ": " + warning));
    return List.copyOf(all);
  }

  /** Returns the problems that a load would meet on the driver and on each executor. */
  private List<PreflightException.Problem> problems(
      List<Rank> described, List<Observation> observations) {
    SparkContext context = session.sparkContext();
    ClusterFacts cluster = ClusterFacts.of(context, profile);
    long bytes = described.stream().mapToLong(Rank::bytes).sum();
    Set<PreflightException.Problem> found =
        new LinkedHashSet<>(
            Preflight.problems(
                cluster,
                HostProbe.read(settings.segmentDirectory().orElse(ProcessDirectory.SHARED_MEMORY)),
                ranks,
                bytes,
                Preflight.minimumOf(ResidentStores.of(context).memoryBytes(), cluster),
                settings));
    for (Rank rank : described) {
      found.addAll(
          MemoryCheck.problems(rank.host(), need(rank, described, observations), settings));
    }
    return List.copyOf(found);
  }

  private static MemoryCheck.Need need(
      Rank rank, List<Rank> ranks, List<Observation> observations) {
    Predicate<Rank> onHost = other -> other.host().hostName().equals(rank.host().hostName());
    Predicate<Rank> inExecutor = other -> other.executor().equals(rank.executor());
    int executors = observations.get(rank.rank()).executorsUnderLimit();
    boolean allShareTheLimit =
        executors >= ranks.stream().filter(onHost).map(Rank::executor).distinct().count();
    return new MemoryCheck.Need(
        rank.bytes(),
        sum(ranks, allShareTheLimit ? onHost : inExecutor),
        sum(ranks, onHost),
        observations.get(rank.rank()).residentBytes(),
        executors);
  }

  private static long sum(List<Rank> ranks, Predicate<Rank> which) {
    return ranks.stream().filter(which).mapToLong(Rank::bytes).sum();
  }

  private static Observation observe(RankContext context, String directory) {
    List<Path> paths = new ArrayList<>();
    for (StoreInfo.Extent extent : context.store().info().variables().get(0).extents()) {
      int owner = context.replicaGroup() * context.store().ranks() + extent.rank();
      paths.add(new Path(context.rank(), owner, extent.path().toString(), extent.reason()));
    }
    DeviceBinding device = context.binding(OptionalInt.empty());
    HostFacts host = HostProbe.read(java.nio.file.Path.of(directory));
    return new Observation(
        context.executorId(),
        host.executorId(context.executorId()),
        GatherKernels.description(),
        context.transport(),
        paths,
        device.description(),
        device.problem().isEmpty() ? device.warnings() : List.of(device.problem()),
        HostMemory.probe(),
        ResidentShards.memoryBytes(),
        HostProbe.executorsUnderLimit(host));
  }

  private static final class NoRows implements ShardLoader {
    private static final long serialVersionUID = 1L;

    @Override
    public Schema schema() {
      return Schema.of(Field.bytes("none"));
    }

    @Override
    public long estimatedBytes(int rank) {
      return 0;
    }

    @Override
    public int shard(int rank) {
      return rank;
    }

    @Override
    public long firstRow(int rank) {
      return 0;
    }

    @Override
    public void load(int rank, Iterator<InternalRow> rows, ShardWriter writer) {
      // The ranks are only observed, so the shard stays empty.
    }
  }
}
