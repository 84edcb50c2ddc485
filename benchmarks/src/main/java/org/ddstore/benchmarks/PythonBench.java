// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.ddstore.benchmarks.driver.Bench;
import org.ddstore.benchmarks.driver.ChildProcesses;
import org.ddstore.benchmarks.driver.JavaCommand;
import org.ddstore.cli.ClusterOptions;
import org.ddstore.cli.OptionRange;
import org.ddstore.local.EmbeddedSpark;
import org.ddstore.local.Progress;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.StoreHandle;
import org.ddstore.spark.StoreSpec;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DType;
import org.ddstore.types.Plural;
import org.ddstore.types.ReadPath;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command that compares reads in Python with those in Java and with NumPy and PyTorch. */
@Command(
    name = "python",
    mixinStandardHelpOptions = true,
    description = {
      "Reads random rows of float32[64] from executors by a handle: in Java, and by the Python"
          + " package, from mapped memory and over the executors' ports, in processes of their own"
          + " that take turns.",
      "Compares with the same rows in a .npy file in /dev/shm, by numpy.take and numpy.memmap, and"
          + " in a TensorDataset by PyTorch's DataLoader without workers. Destinations are reused,"
          + " except by the loaders, numpy.memmap and reads of one row in Python.",
      "Compares sparse rows of about 32 values with annbatch, which reads a matrix in the memory of"
          + " its process, in random order of rows or of chunks of a batch.",
      "What needs PyTorch or annbatch is left out where Python cannot import it."
    })
final class PythonBench extends Bench {
  private static final int RANKS = 2;

  /** Rows of 256 bytes. */
  private static final String DENSE =
      "transform(sequence(1, %d), i -> float(id + i)) as %s"
          .formatted(HandleReads.FLOATS, HandleReads.FIELD);

  /** Columns of 16 to 48 values, 32 on average, so 256 bytes, too. */
  private static final String COLUMNS =
      "transform(sequence(0, int(15 + id %% 33)), k -> int(k * 61 + id %% 61)) as %s"
          .formatted(HandleReads.COLUMNS);

  private static final String DATA =
      "transform(sequence(0, int(15 + id %% 33)), k -> float(id + k)) as %s"
          .formatted(HandleReads.DATA);

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** Above it, a float does not tell the row that it is in. */
  private static final long MAX_ROWS = (1 << 24) - HandleReads.FLOATS;

  @Option(
      names = "--rows",
      paramLabel = "N",
      description = "Number of rows of 256 bytes; ${DEFAULT-VALUE} by default.")
  private long rows = 1_000_000;

  @Option(
      names = "--batch",
      paramLabel = "N",
      description = "Rows per batch; ${DEFAULT-VALUE} by default.")
  private int batch = 1024;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      description = "Seconds per way and round; ${DEFAULT-VALUE} by default.")
  private double seconds = 0.5;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Measured rounds after one warm-up round; ${DEFAULT-VALUE} by default.")
  private int rounds = 5;

  @Option(
      names = "--python",
      paramLabel = "PROGRAM",
      description =
          "Python 3.10 or later with NumPy, to compare also with PyTorch, annbatch, anndata, numba;"
              + " ${DEFAULT-VALUE} by default.")
  private String interpreter = PythonProgram.defaultInterpreter();

  @Mixin private ClusterOptions cluster;

  /**
   * The times of one way.
   *
   * @param rows rows per call
   * @param microsPerRow median of the rounds
   * @param ratioToJava median of the ratios to the time of the Java reader in the same round
   * @param ratioToPython likewise to the Python package; null except for its alternatives
   */
  record Measured(
      String way,
      int rows,
      double microsPerRow,
      double leastMicrosPerRow,
      double mostMicrosPerRow,
      double ratioToJava,
      Double ratioToPython,
      long mismatches) {}

  @Override
  public Integer call() throws IOException {
    OptionRange.check(command, "--rows", rows, 1, MAX_ROWS);
    OptionRange.check(command, "--batch", batch, 1, 1 << 20);
    OptionRange.checkSeconds(command, seconds);
    OptionRange.check(command, "--rounds", rounds, 1, 1000);
    PythonProgram.library(); // refuses before Spark starts
    try (EmbeddedSpark spark = cluster.open(RANKS, Map.of())) {
      ResidentStore dense =
          cluster
              .on(spec(spark, DENSE).field(HandleReads.FIELD, DType.FLOAT32, HandleReads.FLOATS))
              .load("bench-python");
      try {
        ResidentStore sparse = cluster.on(spec(spark, COLUMNS, DATA)).load("bench-python-sparse");
        try {
          return measure(dense.handle(), sparse.handle(), spark.scratch("python"));
        } finally {
          sparse.drop();
        }
      } finally {
        dense.drop();
      }
    }
  }

  private StoreSpec spec(EmbeddedSpark spark, String... columns) {
    return DDStores.from(spark.session().range(rows).selectExpr(columns));
  }

  private int measure(StoreHandle handle, StoreHandle sparse, Path folder) throws IOException {
    Path mapped = folder.resolve("mapped.json");
    Path ports = folder.resolve("ports.json");
    Path cells = folder.resolve("sparse.json");
    handle.save(mapped);
    sparse.save(cells);
    StoreHandle.fromJson(withoutPaths(handle.toJson())).save(ports);
    try (ChildProcesses processes = new ChildProcesses(PATIENCE)) {
      // Two JVMs, because one that has mapped a segment reads it from there by any handle.
      ReadingProcess javaMapped = startJava(processes, mapped, cells, ReadPath.SAME_HOST);
      ReadingProcess javaPorts = startJava(processes, ports, cells, ReadPath.REMOTE);
      PythonProgram python = PythonProgram.start(processes, interpreter, mapped, cells, batch);
      Rounds measured = new Rounds(javaMapped, javaPorts, python);
      try (Progress progress = progress(rounds + 1)) {
        for (int round = 0; round <= rounds; round++) {
          measured.round(round > 0);
          progress.stepTo(round + 1);
        }
      }
      return report(measured.results(), python);
    }
  }

  private ReadingProcess startJava(
      ChildProcesses processes, Path handle, Path sparse, ReadPath expected) throws IOException {
    List<String> java = JavaCommand.of(HandleReads.class);
    java.addAll(List.of(handle.toString(), sparse.toString(), Integer.toString(batch)));
    ReadingProcess process =
        ReadingProcess.start(processes, "the reader in Java", new ProcessBuilder(java));
    String path = process.readLine();
    if (!path.equals(expected.name())) {
      throw new DDStoreException(
          "rows are read by the path %s in place of %s: run executors on this host"
              .formatted(path, expected));
    }
    return process;
  }

  /** Returns a handle by whose paths no memory can be mapped. */
  private static String withoutPaths(String json) throws IOException {
    ObjectNode tree = (ObjectNode) new ObjectMapper().readTree(json);
    for (JsonNode copy : tree.get("copies")) {
      copy.forEach(segment -> ((ObjectNode) segment).putNull("path"));
    }
    return tree.toString();
  }

  private int report(List<Measured> results, PythonProgram python) {
    table("way, µs/row, range, to Java, to Python, mismatches", results, PythonBench::cells);
    line(
        "%s of %d B, batches of %,d or one row by one call, medians of %s; to Java:"
            + " ratio to the Java reader of the same rows; to Python: ratio to get_batch or"
            + " store[row], mapped",
        Plural.of(rows, "row"),
        HandleReads.FLOATS * Float.BYTES,
        batch,
        Plural.of(rounds, "round"));
    line(
        "%s",
        python.versions().entrySet().stream()
            .map(entry -> entry.getKey() + " " + entry.getValue())
            .collect(Collectors.joining(", ")));
    python.missing().forEach((module, reason) -> line("%s is not measured: %s", module, reason));
    List<Measured> faster =
        results.stream()
            .filter(result -> result.ratioToPython() != null && result.ratioToPython() < 1)
            .toList();
    faster.forEach(
        result ->
            line(
                "%s is faster than the Python package: %.2f of its time",
                wayOf(result).words(), result.ratioToPython()));
    if (faster.isEmpty()) {
      line("no alternative is faster than the Python package");
    }
    Map<String, Object> summary = new LinkedHashMap<>();
    summary.put("rows", rows);
    summary.put("batch", batch);
    summary.put("versions", python.versions());
    summary.put("missing", python.missing());
    summary.put("faster", faster.stream().map(Measured::way).toList());
    return finish(results.stream().mapToLong(Measured::mismatches).sum(), results, summary);
  }

  private static PythonWay wayOf(Measured result) {
    return Stream.of(PythonWay.values())
        .filter(way -> way.toString().equals(result.way()))
        .findFirst()
        .orElseThrow();
  }

  private static List<Object> cells(Measured result) {
    List<Object> cells = new ArrayList<>();
    cells.add(wayOf(result).words());
    cells.add(decimal(result.microsPerRow()));
    cells.add(decimal(result.leastMicrosPerRow()) + " to " + decimal(result.mostMicrosPerRow()));
    cells.add(fixed(2, result.ratioToJava()));
    cells.add(fixed(2, result.ratioToPython()));
    cells.add(result.mismatches());
    return cells;
  }

  /** The rounds of all ways that the interpreter can measure. */
  private final class Rounds {
    private final ReadingProcess javaMapped;
    private final ReadingProcess javaPorts;
    private final PythonProgram python;
    private final Map<PythonWay, List<Double>> micros = new EnumMap<>(PythonWay.class);
    private final Map<PythonWay, Long> mismatches = new EnumMap<>(PythonWay.class);

    Rounds(ReadingProcess javaMapped, ReadingProcess javaPorts, PythonProgram python) {
      this.javaMapped = javaMapped;
      this.javaPorts = javaPorts;
      this.python = python;
      for (PythonWay way : PythonWay.values()) {
        if (!python.missing().containsKey(way.module())) {
          micros.put(way, new ArrayList<>());
          mismatches.put(way, 0L);
        }
      }
    }

    /** Gives each way a turn; no two read at the same time. */
    void round(boolean isCounted) throws IOException {
      for (PythonWay way : micros.keySet()) {
        ReadingProcess.Turn turn = process(way).turn(way, seconds);
        mismatches.merge(way, turn.mismatches(), Long::sum);
        if (isCounted) {
          micros.get(way).add(turn.microsPerRow());
        }
      }
    }

    private ReadingProcess process(PythonWay way) {
      if (!way.isOfJava()) {
        return python.process();
      }
      return way == PythonWay.JAVA_PORTS ? javaPorts : javaMapped;
    }

    List<Measured> results() {
      return micros.keySet().stream().map(this::result).toList();
    }

    private Measured result(PythonWay way) {
      double[] times = times(way);
      PythonWay alternative = way.alternativeTo();
      return new Measured(
          way.toString(),
          way.isOfOneRow() ? 1 : batch,
          median(times),
          Collections.min(micros.get(way)),
          Collections.max(micros.get(way)),
          ratio(way, way.baseline()),
          alternative == null ? null : ratio(way, alternative),
          mismatches.get(way));
    }

    private double[] times(PythonWay way) {
      return micros.get(way).stream().mapToDouble(Double::doubleValue).toArray();
    }

    private double ratio(PythonWay way, PythonWay baseline) {
      double[] ratios = times(way);
      double[] baselines = times(baseline);
      for (int i = 0; i < ratios.length; i++) {
        ratios[i] /= baselines[i];
      }
      return median(ratios);
    }
  }
}
