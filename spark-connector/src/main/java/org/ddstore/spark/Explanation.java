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
import org.ddstore.spark.job.BarrierJob;
import org.ddstore.spark.job.ShardLoader;
import org.ddstore.spark.resident.ResidentShards;
import org.ddstore.spark.types.HostFacts;
import org.ddstore.spark.types.PreflightException;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/**
 * What a store would be: its rows and bytes on each rank, the memory that needs and that there is,
 * and how each pair of ranks would read.
 *
 * @param rows of the whole store
 * @param bytes of all packed records, with the offsets of ragged ones
 * @param exactBytes false if the size of ragged records was taken from a sample of rows
 * @param schema of a record
 * @param route how the rows come from the DataFrame
 * @param warnings what to know before relying on it
 * @param width ranks of a replica group, each of which holds one full copy
 * @param ranks one per rank
 * @param problems what the memory that is there would not bear, with the setting that helps
 * @param transport how rows would be read that memory does not reach, and why so
 * @param paths how each rank would read the rows of each other one
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
   * One rank.
   *
   * @param rank its number
   * @param group its replica group
   * @param executor Spark's name of its executor
   * @param firstRow the global index of its first row
   * @param rows how many it holds
   * @param bytes they need
   * @param kernel what copies rows in its executor, and why
   * @param host what its executor has
   * @param device the accelerator that Spark gave to it, or why none
   * @param batches whether a loader's batches are pinned for a device, and by what or why not
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
   * How a rank reads the rows of another.
   *
   * @param reader the rank that reads
   * @param owner the rank that holds the rows
   * @param path by memory or network
   * @param reason why so
   */
  public record Path(int reader, int owner, String path, String reason) implements Serializable {
    private static final long serialVersionUID = 1L;
  }

  /** What a rank says of itself; sent to the driver. */
  private record Seen(
      String executor,
      HostFacts host,
      String kernel,
      String transport,
      List<Path> paths,
      String device,
      List<String> deviceWarnings,
      String batches,
      long residentBytes)
      implements Serializable {
    private static final long serialVersionUID = 1L;
  }

  /** Starts the ranks without rows and asks each what it sees. */
  static Explanation of(
      SparkSession session,
      ResourceProfile profile,
      Settings settings,
      IngestPlan plan,
      int ranks) {
    String directory =
        settings.segmentDirectory().orElse(ProcessDirectory.SHARED_MEMORY).toString();
    List<InternalRow> none = new ArrayList<>();
    List<Seen> seen =
        new BarrierJob(
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
                        new TaskBody<>(context -> look(context, directory))));
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

  /** Of the rows, and of the devices: ranks with the same one together. */
  private static List<String> warnings(IngestPlan plan, List<Seen> seen) {
    Map<String, List<String>> ofDevices = new LinkedHashMap<>();
    for (int r = 0; r < seen.size(); r++) {
      for (String warning : seen.get(r).deviceWarnings()) {
        ofDevices.computeIfAbsent(warning, added -> new ArrayList<>()).add("rank " + r);
      }
    }
    List<String> all = new ArrayList<>(plan.warnings());
    ofDevices.forEach((warning, ranks) -> all.add(String.join(", ", ranks) + ": " + warning));
    return List.copyOf(all);
  }

  /** As a load would find them, on the driver and on each executor. */
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
      found.addAll(
          MemoryCheck.problems(
              rank.host(),
              new MemoryCheck.Need(
                  rank.bytes(),
                  sum(ranks, other -> other.executor().equals(rank.executor())),
                  sum(ranks, other -> other.host().hostName().equals(rank.host().hostName())),
                  seen.get(rank.rank()).residentBytes()),
              settings));
    }
    return List.copyOf(found);
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
    return new Seen(
        context.executorId(),
        HostProbe.read(java.nio.file.Path.of(directory)).withExecutorId(context.executorId()),
        GatherKernels.description(),
        context.transport(),
        paths,
        device.description(),
        device.warnings(),
        HostMemory.probe(),
        ResidentShards.memoryBytes());
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
      // A probe of the ranks needs none.
    }
  }

  /** Lines for people. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    text.append("%,d rows of %s%n".formatted(rows, schema));
    text.append(
        "%,d bytes%s, loaded %s%n".formatted(bytes, exactBytes ? "" : " (by a sample)", route));
    int groups = ranks.size() / width;
    if (groups > 1) {
      text.append("%d replica groups of %d ranks, each with all rows%n".formatted(groups, width));
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
