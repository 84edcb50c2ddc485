// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.peers;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.ddstore.benchmarks.driver.ChildProcesses;
import org.ddstore.local.EmbeddedSpark;
import org.ddstore.local.ScratchDirectory;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.StoreHandle;
import org.ddstore.spark.StoreSpec;
import org.ddstore.types.DType;

/** A run of the programs that read the same rows, beside a store that Spark has loaded. */
public final class PeerRun {
  static final String FIELD = "x";
  static final String COLUMNS = "columns";
  static final String DATA = "data";

  private static final Duration EXIT_PATIENCE = Duration.ofSeconds(10);

  private final PeerPlan plan;
  private final Path folder;

  /** For sockets of Python's workers, whose paths have at most 107 bytes. */
  private final Path temporary;

  private final PeerTask task;
  private final ChildProcesses processes;
  private final PeerRounds rounds;

  private PeerRun(
      PeerPlan plan, Path folder, Path temporary, ChildProcesses processes, PeerSteps steps)
      throws IOException {
    this.plan = plan;
    this.folder = folder;
    this.temporary = temporary;
    this.processes = processes;
    this.rounds = new PeerRounds(plan, steps);
    Path dense = folder.resolve("rows.npy");
    Path sparse = folder.resolve("sparse");
    PeerRows.writeDense(dense, plan.rows(), plan.rowBytes() / Float.BYTES);
    PeerRows.writeSparse(sparse, plan.rows());
    this.task = plan.task(dense.toString(), sparse.toString());
  }

  /**
   * Loads the rows into stores, and lets all installed programs take turns. Blocks for minutes.
   * Leaves no file and no process.
   *
   * @param spark an application with free slots
   * @param cluster adds options, such as the number of ranks, to a spec
   * @param steps receives the progress
   */
  public static PeerReport measure(
      EmbeddedSpark spark, UnaryOperator<StoreSpec> cluster, PeerPlan plan, PeerSteps steps)
      throws IOException, InterruptedException {
    String floats =
        "transform(sequence(1, %d), i -> float(id + i)) as %s"
            .formatted(plan.rowBytes() / Float.BYTES, FIELD);
    StoreSpec dense =
        spec(spark, plan, floats).field(FIELD, DType.FLOAT32, plan.rowBytes() / Float.BYTES);
    StoreSpec sparse =
        spec(
                spark,
                plan,
                "transform(sequence(0, %d), k -> int(k * %d + id %% %d)) as %s"
                    .formatted(PeerRows.VALUES - 1, PeerRows.STRIDE, PeerRows.STRIDE, COLUMNS),
                "transform(sequence(0, %d), k -> float(id + k)) as %s"
                    .formatted(PeerRows.VALUES - 1, DATA))
            .raggedField(COLUMNS, DType.INT32)
            .raggedField(DATA, DType.FLOAT32);
    ResidentStore rows = cluster.apply(dense).load("bench-peers");
    try {
      ResidentStore cells = cluster.apply(sparse).load("bench-peers-sparse");
      try {
        return runBeside(rows.handle(), cells.handle(), plan, steps);
      } finally {
        cells.drop();
      }
    } finally {
      rows.drop();
    }
  }

  private static StoreSpec spec(EmbeddedSpark spark, PeerPlan plan, String... columns) {
    return DDStores.from(spark.session().range(plan.rows()).selectExpr(columns));
  }

  /** Lets programs take turns that read no store. Blocks for minutes. */
  static PeerReport measure(PeerPlan plan, PeerSteps steps)
      throws IOException, InterruptedException {
    return runBeside(null, null, plan, steps);
  }

  /**
   * @param rows handle of the dense rows; null if no program reads a store
   */
  private static PeerReport runBeside(
      StoreHandle rows, StoreHandle cells, PeerPlan plan, PeerSteps steps)
      throws IOException, InterruptedException {
    try (ScratchDirectory scratch = ScratchDirectory.create("ddstore-peers-");
        ScratchDirectory temporary = ScratchDirectory.create(Path.of("/tmp"), "ddstore-peers-");
        ChildProcesses processes = new ChildProcesses(EXIT_PATIENCE)) {
      Path folder = scratch.path();
      if (rows != null) {
        rows.save(folder.resolve("mapped.json"));
        cells.save(folder.resolve("mapped-sparse.json"));
        withoutPaths(rows).save(folder.resolve("ports.json"));
        withoutPaths(cells).save(folder.resolve("ports-sparse.json"));
      }
      return new PeerRun(plan, folder, temporary.path(), processes, steps).run();
    }
  }

  /** Returns a handle by whose paths no memory can be mapped. */
  private static StoreHandle withoutPaths(StoreHandle handle) throws IOException {
    ObjectNode tree = (ObjectNode) new ObjectMapper().readTree(handle.toJson());
    for (JsonNode copy : tree.get("copies")) {
      copy.forEach(segment -> ((ObjectNode) segment).putNull("path"));
    }
    return StoreHandle.fromJson(tree.toString());
  }

  private PeerReport run() throws IOException, InterruptedException {
    for (KnownPeer known : plan.peers()) {
      if (known.isInstalled()) {
        String handle = known.isOverPorts() ? "ports" : "mapped";
        rounds.add(
            known.way(),
            () ->
                start(
                    known.way(),
                    known.command(plan.interpreter()),
                    known.variables(),
                    known.isOurs() ? folder.resolve(handle + ".json").toString() : null,
                    known.isOurs() ? folder.resolve(handle + "-sparse.json").toString() : null));
      } else {
        rounds.miss(known.way(), "./ddstore bench peers --install-peers");
      }
    }
    for (Map.Entry<String, String> foreign : plan.foreign().entrySet()) {
      List<String> shell = List.of("/bin/sh", "-c", foreign.getValue() + " \"$0\"");
      rounds.add(foreign.getKey(), () -> start(foreign.getKey(), shell, Map.of(), null, null));
    }
    return rounds.measure();
  }

  private PeerProcess start(
      String way, List<String> command, Map<String, String> variables, String handle, String sparse)
      throws IOException {
    Map<String, String> environment = new HashMap<>(variables);
    environment.put("TMPDIR", temporary.toString());
    Path own = Files.createDirectory(folder.resolve(way));
    Path scratch = Files.createDirectory(own.resolve("scratch"));
    return PeerProcess.start(
        processes,
        way,
        command,
        environment,
        own,
        task.of(scratch.toString(), handle, sparse),
        plan.patience());
  }
}
