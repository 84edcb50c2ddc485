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
import org.ddstore.types.Plural;
import org.ddstore.types.Schema;

/**
 * A prediction of a store before it is loaded: rows and bytes on each rank, required and available
 * memory, and the read path between each pair of ranks.
 *
 * @param rows number of rows of the whole store
 * @param bytes size of all packed records, including the offsets of ragged records
 * @param exactBytes false if the size of ragged records is estimated from a sample of rows
 * @param schema schema of a record
 * @param route description of the way from the DataFrame to the ranks
 * @param warnings risks to know before relying on the store
 * @param problems shortages of memory, each with the setting that helps
 * @param width number of ranks of a replica group, which together hold one full copy
 * @param ranks one entry per rank, in rank order
 * @param transport transport of rows outside of shared memory, with the reason for its choice
 * @param paths read path of each rank to each rank of its replica group
 */
public record Explanation(
    long rows,
    long bytes,
    boolean exactBytes,
    Schema schema,
    String route,
    List<String> warnings,
    List<PreflightException.Problem> problems,
    int width,
    List<Rank> ranks,
    String transport,
    List<Path> paths) {
  /**
   * The share and the environment of one rank.
   *
   * @param rank number of the rank
   * @param group number of its replica group
   * @param executor Spark's id of its executor
   * @param firstRow global index of its first row
   * @param rows number of its rows
   * @param bytes memory for its rows
   * @param kernel implementation that copies rows in its executor, with the reason
   * @param host memory and limits of its executor's host
   * @param device accelerator that Spark assigned to it, or the reason for none
   * @param batches whether and how a loader's batches are pinned for a device, with the reason
   */
  public record Rank(
      int rank,
      int group,
      String executor,
      long firstRow,
      long rows,
      long bytes,
      String kernel,
      HostFacts host,
      String device,
      String batches) {}

  /**
   * The way in which one rank reads the rows of another.
   *
   * @param reader number of the rank that reads
   * @param owner number of the rank that holds the rows
   * @param path name of the read path: memory or network
   * @param reason reason for the path
   */
  public record Path(int reader, int owner, String path, String reason) implements Serializable {
    private static final long serialVersionUID = 1L;
  }

  /** The observations of one rank, sent to the driver. */
  private record Seen(
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
  static Explanation of(
      SparkSession session,
      ResourceProfile profile,
      Settings settings,
      IngestPlan plan,
      int ranks) {
    List<Seen> seen = runRanks(session, profile, settings, ranks);
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
              seen.get(r).executor(),
              first,
              count,
              share,
              seen.get(r).kernel(),
              seen.get(r).host(),
              seen.get(r).device(),
              seen.get(r).batches()));
      paths.addAll(seen.get(r).paths());
    }
    return new Explanation(
        plan.rows(),
        bytes,
        plan.isSizeExact(),
        plan.schema(),
        plan.route(),
        warnings(plan, seen),
        problems(session.sparkContext(), profile, settings, described, seen),
        groups.width(),
        described,
        seen.get(0).transport(),
        paths);
  }

  /** Starts the ranks without rows and returns what each of them reports. */
  private static List<Seen> runRanks(
      SparkSession session, ResourceProfile profile, Settings settings, int ranks) {
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
                    new UserTaskBody<>(context -> look(context, directory))));
  }

  /** Returns the warnings of the plan, then those of devices with their ranks joined. */
  private static List<String> warnings(IngestPlan plan, List<Seen> seen) {
    Map<String, List<String>> deviceWarnings = new LinkedHashMap<>();
    for (int r = 0; r < seen.size(); r++) {
      for (String warning : seen.get(r).deviceWarnings()) {
        deviceWarnings.computeIfAbsent(warning, added -> new ArrayList<>()).add("rank " + r);
      }
    }
    List<String> all = new ArrayList<>(plan.warnings());
    deviceWarnings.forEach((warning, ranks) -> all.add(String.join(", ", ranks) + ": " + warning));
    return List.copyOf(all);
  }

  /** Returns the problems that a load would meet on the driver and on each executor. */
  private static List<PreflightException.Problem> problems(
      SparkContext context,
      ResourceProfile profile,
      Settings settings,
      List<Rank> ranks,
      List<Seen> seen) {
    ClusterFacts cluster = ClusterFacts.of(context, profile);
    long bytes = ranks.stream().mapToLong(Rank::bytes).sum();
    Set<PreflightException.Problem> found =
        new LinkedHashSet<>(
            Preflight.problems(
                cluster,
                HostProbe.read(settings.segmentDirectory().orElse(ProcessDirectory.SHARED_MEMORY)),
                ranks.size(),
                bytes,
                Preflight.leastOf(ResidentStores.of(context).memoryBytes(), cluster),
                settings));
    for (Rank rank : ranks) {
      found.addAll(MemoryCheck.problems(rank.host(), need(rank, ranks, seen), settings));
    }
    return List.copyOf(found);
  }

  private static MemoryCheck.Need need(Rank rank, List<Rank> ranks, List<Seen> seen) {
    Predicate<Rank> onHost = other -> other.host().hostName().equals(rank.host().hostName());
    Predicate<Rank> inExecutor = other -> other.executor().equals(rank.executor());
    int executors = seen.get(rank.rank()).executorsUnderLimit();
    boolean allShareTheLimit =
        executors >= ranks.stream().filter(onHost).map(Rank::executor).distinct().count();
    return new MemoryCheck.Need(
        rank.bytes(),
        sum(ranks, allShareTheLimit ? onHost : inExecutor),
        sum(ranks, onHost),
        seen.get(rank.rank()).residentBytes(),
        executors);
  }

  private static long sum(List<Rank> ranks, Predicate<Rank> which) {
    return ranks.stream().filter(which).mapToLong(Rank::bytes).sum();
  }

  private static Seen look(RankContext context, String directory) {
    List<Path> paths = new ArrayList<>();
    for (StoreInfo.Extent extent : context.store().info().variables().get(0).extents()) {
      int owner = context.replicaGroup() * context.store().ranks() + extent.rank();
      paths.add(new Path(context.rank(), owner, extent.path().toString(), extent.reason()));
    }
    DeviceBinding device = context.binding(OptionalInt.empty());
    HostFacts host = HostProbe.read(java.nio.file.Path.of(directory));
    return new Seen(
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
    public long firstRow(int rank) {
      return 0;
    }

    @Override
    public void load(int rank, Iterator<InternalRow> rows, ShardWriter writer) {
      // The ranks are only observed, so the shard stays empty.
    }
  }

  /** Returns human-readable lines. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    text.append("%s of %s%n".formatted(Plural.of(rows, "row"), schema));
    text.append(
        "%,d bytes%s, loaded %s%n"
            .formatted(bytes, exactBytes ? "" : " (estimated from a sample)", route));
    int groups = ranks.size() / width;
    if (groups > 1) {
      text.append(
          "%d replica groups of %s, each with all rows%n"
              .formatted(groups, Plural.of(width, "rank")));
    }
    for (Rank rank : ranks) {
      text.append(groups > 1 ? "group %d, ".formatted(rank.group()) : "");
      text.append(
          "rank %d on executor %s: rows [%d, %d), %,d bytes; rows are copied by %s%n"
              .formatted(
                  rank.rank(),
                  rank.executor(),
                  rank.firstRow(),
                  rank.firstRow() + rank.rows(),
                  rank.bytes(),
                  rank.kernel()));
      text.append(
          "rank %d computes on %s; batches %s%n"
              .formatted(rank.rank(), rank.device(), rank.batches()));
    }
    for (Path path : paths) {
      text.append(
          "rank %d reads rank %d by %s: %s%n"
              .formatted(path.reader(), path.owner(), path.path(), path.reason()));
    }
    text.append("remote rows by %s%n".formatted(transport));
    warnings.forEach(warning -> text.append("warning: %s%n".formatted(warning)));
    problems.forEach(
        problem -> text.append("problem: %s: %s%n".formatted(problem.missing(), problem.remedy())));
    return text.toString();
  }
}
