// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.ddstore.benchmarks.driver.Bench;
import org.ddstore.benchmarks.driver.RankNetwork;
import org.ddstore.benchmarks.report.Figure;
import org.ddstore.cli.OptionRange;
import org.ddstore.cli.TransportOptions;
import org.ddstore.hosts.Requirements;
import org.ddstore.local.Progress;
import org.ddstore.nativeio.NativeLibrary;
import org.ddstore.spark.config.ByteSize;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.Plural;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command that measures reads by path, row size and batch, against a plain copy loop. */
@Command(
    name = "read",
    mixinStandardHelpOptions = true,
    description = {
      "Reads random rows from ranks in separate JVMs: rank 0 reads, the others only hold rows.",
      "Every row read is compared with the written row. The limit is a loop that copies the same"
          + " number of random rows from the same memory (for remote rows, the memory of rank 0)"
          + " one by one in the same run: memcpy in C, or Java if the native library is"
          + " unavailable."
    })
final class ReadBench extends Bench {
  @Option(
      names = "--row-bytes",
      paramLabel = "N",
      split = ",",
      description = "Row sizes in bytes; ${DEFAULT-VALUE} by default.")
  private List<Integer> rowBytes = List.of(256, 4096, 65_536, 1_048_576);

  @Option(
      names = "--batch",
      paramLabel = "N",
      split = ",",
      description = "Rows per batch; ${DEFAULT-VALUE} by default.")
  private List<Integer> batches = List.of(1, 8, 64, 1024);

  @Option(
      names = "--in-flight",
      paramLabel = "N",
      split = ",",
      description = "Batches read concurrently, one thread each; ${DEFAULT-VALUE} by default.")
  private List<Integer> inFlight = List.of(1, 4);

  @ArgGroup private Size size = new Size();

  @Option(
      names = "--shard-mb",
      paramLabel = "MB",
      description = "Size of the rows of one rank in MiB; ${DEFAULT-VALUE} by default.")
  private int shardMb = 256;

  @Option(
      names = "--hosts",
      paramLabel = "1|2",
      description =
          "Number of hosts, 1 by default. With 2, rank r runs on host r %% 2; the hosts are network"
              + " namespaces with separate /dev/shm, which require root.")
  private int hosts = 1;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      description = "Duration of each measurement in seconds; ${DEFAULT-VALUE} by default.")
  private double seconds = 1;

  @Option(
      names = "--encrypted",
      description = "Enable Spark's authentication and encryption, which the transport then uses.")
  private boolean encrypted;

  @Option(
      names = "--replay",
      description =
          "Record the requests of the steps of a training in shuffled order, and replay them"
              + " without a store, by memcpy and plain sockets: the ceiling. Prints the share of it"
              + " that the store reaches.")
  private boolean replays;

  @Mixin private TransportOptions transport;

  /** The number of ranks, given in one of two ways. */
  private static final class Size {
    @Option(
        names = "--ranks",
        paramLabel = "N",
        description = "Number of ranks, 2 by default; rank 0 reads from the others.")
    private int ranks = 2;

    @Option(
        names = "--peers",
        paramLabel = "N",
        description = "Number of ranks that serve the rows of each batch, in place of --ranks.")
    private Integer peers;

    int allRanks() {
      return peers == null ? ranks : peers + 1;
    }
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    check();
    ReadBenchPlan plan =
        new ReadBenchPlan(
            List.copyOf(rowBytes),
            List.copyOf(batches),
            List.copyOf(inFlight),
            new RankNetwork(size.allRanks(), transport.name(), transport.shortcut(), encrypted),
            (long) shardMb << 20,
            seconds,
            replays);
    if (replays) {
      return replay(plan);
    }
    List<ReadResult> results = new ArrayList<>();
    try (Progress progress = progress(plan.measurements())) {
      runOnRanks(plan, hosts, ReadResult.class, results, progress);
    }
    report(plan, results);
    Optional<PlainReads> program = PlainReads.find(transport.name());
    Map<Integer, Double> plain =
        program.isPresent() ? program.get().measure(plan, hosts) : Map.of();
    plain.forEach(
        (bytes, micros) -> {
          line("%s, %s: %s µs/row", program.get().words(), ByteSize.format(bytes), decimal(micros));
          figure(
              Figure.of(
                  "rows of another process, " + transport.name(),
                  ByteSize.format(bytes) + ", row by row",
                  program.get().words(),
                  "µs/row",
                  micros));
        });
    long mismatches = results.stream().mapToLong(ReadResult::mismatches).sum();
    results.forEach(result -> result.figures().forEach(this::figure));
    Map<String, Object> summary = new LinkedHashMap<>();
    summary.put("ranks", size.allRanks());
    summary.put("hosts", hosts);
    summary.put("shardBytes", plan.shardBytes());
    summary.put("encrypted", encrypted);
    summary.put("plainMicrosPerRow", plain);
    return finish(mismatches, results, summary);
  }

  private int replay(ReadBenchPlan plan) throws IOException, InterruptedException {
    if (!ReplayMeasurement.isPossible()) {
      throw new DDStoreException("--replay needs the library in C: " + NativeLibrary.description());
    }
    List<ReplayResult> results = new ArrayList<>();
    try (Progress progress = progress(plan.rowBytes().size() * plan.batches().size())) {
      runOnRanks(plan, hosts, ReplayResult.class, results, progress);
    }
    table(
        "transport, row, batch, remote rows, µs/row, ceiling µs/row, share of ceiling, mismatches",
        results,
        result ->
            List.of(
                result.transport(),
                ByteSize.format(result.rowBytes()),
                result.batch(),
                fixed(0, 100 * result.remoteShare()) + " %",
                decimal(result.microsPerRow()),
                decimal(result.ceilingMicrosPerRow()),
                fixed(0, 100 * result.shareOfCeiling()) + " %",
                result.mismatches()));
    line(
        "ceiling: requests and replies of the same sizes over plain blocking sockets, and memcpy of"
            + " the rows in memory meanwhile, in turns with the store");
    results.forEach(result -> result.figures().forEach(this::figure));
    long mismatches = results.stream().mapToLong(ReplayResult::mismatches).sum();
    return finish(
        mismatches, results, Map.of("ranks", size.allRanks(), "hosts", hosts, "replay", true));
  }

  private void check() {
    transport.check();
    OptionRange.checkAll(command, "--row-bytes", rowBytes, 8, 1 << 30);
    OptionRange.checkAll(command, "--batch", batches, 1, 1 << 20);
    OptionRange.checkAll(command, "--in-flight", inFlight, 1, 256);
    if (replays && command.commandLine().getParseResult().hasMatchedOption("--in-flight")) {
      throw usage("--replay --in-flight: a step is one batch; leave out --in-flight");
    }
    if (size.peers == null) {
      OptionRange.check(command, "--ranks", size.ranks, 2, RankNetwork.MAX_RANKS);
    } else {
      OptionRange.check(command, "--peers", size.peers, 1, RankNetwork.MAX_RANKS - 1);
    }
    OptionRange.check(command, "--shard-mb", shardMb, 1, 1 << 20);
    OptionRange.check(command, "--hosts", hosts, 1, 2);
    OptionRange.checkSeconds(command, seconds);
    if (hosts == 2) {
      Optional<String> missing = Requirements.missing();
      if (missing.isPresent()) {
        throw new DDStoreException("--hosts 2: " + missing.get());
      }
    }
  }

  private void report(ReadBenchPlan plan, List<ReadResult> results) {
    table(
        "path, row, batch, in flight, µs/row, p99 µs/row, GB/s, limit µs/row, stream µs/row,"
            + " ratio to limit, socket µs/row, ratio to socket, p99 ratio, cpu ratio, mismatches",
        results,
        ReadBench::cells);
    line(
        "%s with %s each on %s, rank 0 reads; µs/row and GB/s over all batches in"
            + " flight; batches larger than %s are skipped",
        Plural.of(size.allRanks(), "rank"),
        ByteSize.format(plan.shardBytes()),
        Plural.of(hosts, "host"),
        ByteSize.format(plan.maxBatchBytes()));
    results.stream()
        .filter(result -> !result.why().isEmpty())
        .map(result -> "%s: %s".formatted(result.transport(), result.why()))
        .distinct()
        .forEach(output::line);
    if (!results.isEmpty()) {
      line(
          "limit: %s, by one thread; stream: time per row when one core copies a long range of"
              + " memory at %.1f GB/s; socket: the same bytes over plain blocking sockets"
              + " between the same processes; all alternate with the reads",
          results.get(0).limit(),
          median(results.stream().mapToDouble(ReadResult::streamGbPerSecond).toArray()));
    }
  }

  private static List<Object> cells(ReadResult result) {
    return Arrays.asList( // with nulls
        result.path() + (result.path().equals("remote") ? " (" + result.transport() + ")" : ""),
        ByteSize.format(result.rowBytes()),
        result.access().equals(ReadResult.HOT) ? "1 (hot)" : result.batch(),
        result.inFlight(),
        decimal(result.microsPerRow()),
        decimal(result.p99MicrosPerRow()),
        decimal(result.gbPerSecond()),
        decimal(result.limitMicrosPerRow()),
        decimal(result.streamMicrosPerRow()),
        decimal(result.ratioToLimit()),
        decimal(result.socketMicrosPerRow()),
        decimal(result.ratioToSocket()),
        decimal(result.p99RatioToSocket()),
        decimal(result.cpuRatioToSocket()),
        result.mismatches());
  }
}
