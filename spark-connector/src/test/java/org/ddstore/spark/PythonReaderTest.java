// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.build.DocsCommand;
import org.ddstore.checkpoint.Checkpoint;
import org.ddstore.checkpoint.CheckpointOptions;
import org.ddstore.checkpoint.CheckpointStorage;
import org.ddstore.checkpoint.CheckpointWriter;
import org.ddstore.checkpoint.SavingRanks;
import org.ddstore.contract.Needed;
import org.ddstore.loader.LoadedBatch;
import org.ddstore.loader.Loader;
import org.ddstore.loader.LoaderOptions;
import org.ddstore.sampling.EpochState;
import org.ddstore.sampling.Samplers;
import org.ddstore.spark.wire.NeedsPython;
import org.ddstore.spark.wire.NeedsReaderTool;
import org.ddstore.types.DType;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Runs the tests of {@code python/tests} against a store in executors. */
@Tag("system")
@NeedsReaderTool
@NeedsPython
@Timeout(600)
class PythonReaderTest extends OnTestCluster {
  private static final Path TESTS =
      Path.of(System.getProperty("ddstore.root", ""), "python/tests").toAbsolutePath();
  private static final int PYTHON_ROWS = 6000;
  private static final int LARGE_ROWS = 1 << 17;
  private static final int APPENDED = 100;
  private static final int GLOBAL_BATCH = 96;
  private static final int EPOCH = 2;
  private static final int BATCHES = 4;
  private static final int CHUNK = 4096;
  private static final int MODEL_BYTES = 10_000;
  private static final long END_SECONDS = 20;

  @BeforeAll
  static void start() {
    cluster = TestCluster.start(2, 2, 1024, Map.of());
  }

  @AfterEach
  void assertNothingHeld() {
    DDStores.list(cluster.session()).forEach(ResidentStore::drop);
    cluster.assertNothingHeld();
  }

  @AfterAll
  static void assertNothingLeft() {
    cluster.assertNothingLeft();
  }

  /** The rows [from, to) of {@code rows.py}. */
  private static Dataset<Row> rows(long from, long to) {
    return cluster
        .session()
        .range(from, to, 1, 3)
        .selectExpr(
            "id",
            "id % 3 = 0 as flag",
            "cast(id % 256 - 128 as tinyint) as i8",
            "cast(id * 7 % 256 as smallint) as u8",
            "cast(id * 31 % 65536 - 32768 as smallint) as i16",
            "cast(id * 2654435761 % 4294967296 - 2147483648 as int) as i32",
            "id * 1000000007 - 500000000000 as i64",
            "cast(id * 17 % 31744 as smallint) as f16",
            "cast(id * 13 % 32640 as smallint) as bf16",
            "cast(cast(id as double) / 3 as float) as f32",
            "cast(id as double) / 7 as f64",
            "transform(sequence(0, 5), k -> float((id * 6 + k) / 4D)) as m",
            "transform(slice(sequence(0, 9), 1, int(id % 5)), k -> id * 10 + k) as w",
            "transform(slice(sequence(0, 9), 1, int(id % 4)),"
                + " k -> array(float(id), float(k))) as p",
            "concat(repeat('ü', int(id % 4)), ' ', id) as t",
            "substring(unhex(lpad(hex(id), 8, '0')), 1, int(id % 5)) as b");
  }

  private static ResidentStore load() {
    return load(rows(0, PYTHON_ROWS), "python");
  }

  private static ResidentStore load(Dataset<Row> rows, String name) {
    return DDStores.from(rows)
        .ranks(4)
        .field("u8", DType.UINT8)
        .field("f16", DType.FLOAT16)
        .field("bf16", DType.BFLOAT16)
        .field("m", DType.FLOAT32, 2, 3)
        .raggedField("p", DType.FLOAT32, 2)
        .load(name);
  }

  /**
   * Returns the state of a loader that {@code test_torch.py} continues with, and saves it in a
   * checkpoint that {@code test_checkpoint.py} reads.
   */
  private String state(ResidentStore store) {
    String folder = checkpoints().toUri().toString();
    List<String> states =
        store.run(
            context -> {
              LoaderOptions options =
                  LoaderOptions.defaults()
                      .fields("id", "m", "i8")
                      .cast("m", DType.BFLOAT16, 0.3)
                      .cast("i8", DType.FLOAT32);
              try (Loader loader =
                  context.loader(Samplers.shuffled(42).globalBatchSize(GLOBAL_BATCH), options)) {
                Iterator<LoadedBatch> batches = loader.epoch(EPOCH).iterator();
                for (int i = 0; i < BATCHES; i++) {
                  batches.next();
                }
                context
                    .checkpoints(folder, CheckpointOptions.defaults().chunkSize(CHUNK))
                    .save(loader.state(), PythonReaderTest::writeStreams);
                return loader.state().toJson();
              }
            });
    assertThat(states).hasSize(4).containsOnly(states.get(0));
    return states.get(0);
  }

  private Path checkpoints() {
    return directory.resolve("checkpoints");
  }

  /** The bytes of the stream "model" of {@code test_checkpoint.py}. */
  private static byte[] model() {
    byte[] bytes = new byte[MODEL_BYTES];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (i * 7);
    }
    return bytes;
  }

  private static void writeStreams(CheckpointWriter to) throws IOException {
    if (TaskContext.getPartitionId() == 0) {
      try (OutputStream out = to.writer("model")) {
        out.write(model());
      }
    } else if (TaskContext.getPartitionId() == 1) {
      to.writer("empty").close();
    }
  }

  /** Reads on three ranks what Python has saved on two after the checkpoint of Java. */
  private void assertSavedByPython(String state) throws Exception {
    List<Boolean> read =
        SavingRanks.values(
            3,
            CheckpointStorage.local(checkpoints()),
            CheckpointOptions.defaults(),
            (checkpoints, rank) -> {
              Checkpoint saved = checkpoints.latest().orElseThrow();
              assertThat(checkpoints.numbers()).containsExactly(1L, 2L);
              assertThat(saved.number()).isEqualTo(2);
              assertThat(saved.states()).hasSize(2).containsOnly(EpochState.parse(state));
              assertThat(saved.streams()).containsExactly("part0", "part1");
              assertThat(saved.bytes("part0")).isEqualTo(model());
              assertThat(saved.bytes("part1"))
                  .isEqualTo(Arrays.copyOfRange(model(), 1, MODEL_BYTES));
              return true;
            });
    assertThat(read).hasSize(3);
  }

  /**
   * Runs tests that end with success.
   *
   * @param actions what the tests can ask for by a line of output
   */
  private void runTests(List<String> modules, String state, Map<String, Runnable> actions)
      throws IOException, InterruptedException {
    runTests(Needed.PYTHON, modules, state, actions);
  }

  private void runTests(
      String interpreter, List<String> modules, String state, Map<String, Runnable> actions)
      throws IOException, InterruptedException {
    Path report = directory.resolve("report");
    ProcessBuilder builder = new ProcessBuilder(interpreter, "-B", "-m", "unittest");
    builder.command().addAll(modules);
    builder.environment().put("DDSTORE_HANDLE", directory.resolve("handle.json").toString());
    builder.environment().put("DDSTORE_STATE", state);
    builder.environment().put("DDSTORE_CHECKPOINTS", checkpoints().toString());
    Process python = builder.directory(TESTS.toFile()).redirectError(report.toFile()).start();
    try (BufferedReader output = python.inputReader()) {
      for (String line = output.readLine(); line != null; line = output.readLine()) {
        assertThat(actions).as("what Python may ask for").containsKey(line);
        actions.get(line).run();
        python.outputWriter().append("done\n").flush();
      }
      assertThat(python.waitFor(END_SECONDS, TimeUnit.SECONDS)).as("Python ends").isTrue();
    } finally {
      python.destroyForcibly();
    }
    String text = Files.readString(report);
    int skip = text.indexOf("SkipTest: ");
    Needed.check("packages", skip < 0, () -> text.substring(skip).strip());
    assertThat(python.exitValue()).as(text).isZero();
  }

  private static void signal(String name, long pid) {
    try {
      int status = new ProcessBuilder("kill", "-" + name, Long.toString(pid)).start().waitFor();
      assertThat(status).isZero();
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void readsRowsAndLoadsTensors() throws Exception {
    ResidentStore store = load();
    store.handle().save(directory.resolve("handle.json"), true);
    load(rows(0, 0), "empty").handle().save(directory.resolve("empty.json"));
    DDStores.from(
            cluster.session().range(LARGE_ROWS).selectExpr("array_repeat(float(id), 256) as x"))
        .field("x", DType.FLOAT32, 256)
        .load("large")
        .handle()
        .save(directory.resolve("large.json"));
    String state = state(store);
    runTests(
        List.of("test_samplers", "test_checkpoint", "test_store", "test_torch"), state, Map.of());
    assertSavedByPython(state);
  }

  @Test
  @Tag("slow") // its Python has packages of PyPI
  void sharesMemoryWithArrow() throws Exception {
    Path lock = TESTS.resolveSibling("requirements.lock");
    Path environment =
        DocsCommand.environment(Needed.PYTHON, lock, List.of("--system-site-packages"));
    load().handle().save(directory.resolve("handle.json"));
    load(rows(0, 0), "empty").handle().save(directory.resolve("empty.json"));
    String python = environment.resolve("bin/python").toString();
    runTests(python, List.of("test_arrow"), "", Map.of());
  }

  @Test
  void survivesTheLossOfWhatItReads() throws Exception {
    ResidentStore store = load();
    store.handle().save(directory.resolve("handle.json"), true);
    long victim = cluster.executors().iterator().next();
    Map<String, Runnable> actions =
        Map.of(
            "append", () -> store.append(rows(PYTHON_ROWS, PYTHON_ROWS + APPENDED)),
            "pause", () -> signal("STOP", victim),
            "continue", () -> signal("CONT", victim),
            "kill", () -> kill(victim),
            "drop", store::drop);
    runTests(List.of("test_loss"), "", actions);
  }
}
