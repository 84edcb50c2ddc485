// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.spark.sql.SparkSession;
import org.ddstore.contract.Needed;
import org.ddstore.contract.ProcessTree;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code ./ddstore serve} as a user starts it, and the Python package as its reader. */
@Tag("system")
@Timeout(value = 600, unit = TimeUnit.SECONDS)
class ServeIT {
  private static final Path ROOT = Path.of(System.getProperty("ddstore.root"));
  private static final Path LIBRARY = ROOT.resolve("native/target/c/libddstore_reader.so");

  private static final Duration PATIENCE = Duration.ofMinutes(3);

  /** Cells whose type is that of the gene with the highest count. */
  private static final String CELLS =
      """
      import anndata, numpy, pandas, scipy.sparse
      types = numpy.random.default_rng(1).integers(0, 3, 1000)
      x = scipy.sparse.random(1000, 60, density=0.1, format="lil", dtype=numpy.float32, random_state=1)
      x[numpy.arange(1000), types] = 9
      obs = pandas.DataFrame(
          {"cell_type": pandas.Categorical(numpy.array(["B", "NK", "T"])[types])},
          index=[f"cell {i}" for i in range(1000)])
      anndata.AnnData(X=x.tocsr(), obs=obs).write_h5ad("cells.h5ad")
      """;

  private static final String CHECK =
      """
      import anndata, ddstore, numpy
      cells = anndata.read_h5ad("cells.h5ad")
      order = numpy.random.default_rng(2).permutation(1000)
      with ddstore.attach("handles/rows.json") as store:
          batch = store.get_batch(order)
          assert (batch["id"] == order).all() and (batch["label"] == order % 10).all()
          assert (batch["x"] == numpy.eye(10, 64, dtype=numpy.float32)[order % 10]).all()
          assert batch["t"].tolist() == [f"row {i}" for i in order]
      with ddstore.attach("handles/cells.json") as store:
          batch = store.get_batch(order)
          x = cells.X[order]
          assert batch["cell_type"].tolist() == cells.obs["cell_type"].iloc[order].tolist()
          assert (batch["X_indices"].values == x.indices).all()
          assert (batch["X_indices"].offsets == x.indptr).all()
          assert (batch["X_values"].values == x.data).all()
      print("equal")
      """;

  /** The training of the two pages: guesses have a loss of log(10) = 2.3 and log(3) = 1.1. */
  private static final String TRAIN =
      """
      import torch
      torch.manual_seed(1)
      %s
      assert loss < 2 and batches.receipt().exact, loss
      %s
      assert loss < 1, loss
      print("trained")
      """;

  private static final Pattern PYTHON_BLOCK =
      Pattern.compile("(?s)<!-- not run: ServeIT runs it -->\n```python\n(.*?)```");

  /** Reads until a read fails. */
  private static final String HOLD =
      """
      import ddstore, pathlib, time
      try:
          store = ddstore.attach("%s")
          while True:
              assert store.get_batch([7])["id"] == [7]
              pathlib.Path("held").touch()
              time.sleep(0.02)
      except ConnectionError as error:
          print(type(error).__name__, error)
      """;

  @TempDir private static Path work;

  @BeforeAll
  static void write() throws IOException, InterruptedException {
    Needed.check("libddstore_reader", Files.exists(LIBRARY), () -> LIBRARY + " was not built");
    String failure = python("import sys; assert sys.version_info >= (3, 10)\n" + CELLS);
    Needed.check(
        "Python 3.10, python3-numpy and python3-anndata",
        Files.exists(work.resolve("cells.h5ad")),
        () -> failure);
    SparkSession spark = ParquetSamples.session();
    spark
        .range(0, 1000, 1, 1)
        .selectExpr(
            "id",
            "concat('row ', id) as t",
            "cast(id % 10 as int) as label",
            "transform(sequence(0, 63), k -> float(if(k = id % 10, 1, 0))) as x")
        .write()
        .parquet(work.resolve("rows.parquet").toString());
    spark.stop();
  }

  private static String python(String script) throws IOException, InterruptedException {
    Process process = pythonBuilder(script).start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    process.waitFor();
    return output.strip();
  }

  /** Returns the Python code of a page that runs here, for the handles of the test. */
  private static String codeOf(String page) throws IOException {
    return PYTHON_BLOCK
        .matcher(Files.readString(ROOT.resolve(page)))
        .results()
        .map(block -> block.group(1))
        .collect(Collectors.joining())
        .replace("/data/train.json", "handles/rows.json")
        .replace("/data/cells.json", "handles/cells.json");
  }

  private static ProcessBuilder pythonBuilder(String script) {
    ProcessBuilder builder = new ProcessBuilder(Needed.PYTHON, "-B", "-c", script);
    builder.environment().put("PYTHONPATH", ROOT.resolve("python/src").toString());
    builder.environment().put("DDSTORE_READER_LIBRARY", LIBRARY.toString());
    return builder.directory(work.toFile()).redirectErrorStream(true);
  }

  private static ProcessTree serve(Path folder, String line, Object... values) throws IOException {
    Files.deleteIfExists(work.resolve("out"));
    ProcessBuilder builder = new Launcher(folder).builder(Launcher.words("serve " + line, values));
    ProcessTree tree =
        ProcessTree.start(
            builder
                .redirectOutput(work.resolve("out").toFile())
                .redirectError(work.resolve("err").toFile()));
    try {
      await("rows are served")
          .atMost(PATIENCE)
          .until(() -> text("out").contains("print(batch)") || !tree.isAlive());
      assertThat(tree.isAlive()).as(text("err")).isTrue();
      return tree;
    } catch (RuntimeException | Error e) {
      tree.close();
      throw e;
    }
  }

  private static String text(String file) throws IOException {
    return Files.readString(work.resolve(file));
  }

  /** The journey of a user: from files to batches, over the loss of an executor, to the end. */
  @Test
  void servesParquetAndCellsUntilItIsTerminated() throws Exception {
    long startNs = System.nanoTime();
    String trained;
    Path handles = work.resolve("handles");
    try (ProcessTree server =
        serve(work, "rows.parquet cells.h5ad --executors 1 --ranks 2 --handle handles")) {
      Duration served = Duration.ofNanos(System.nanoTime() - startNs);
      String program = text("out").substring(text("out").indexOf("import ddstore"));
      String batch = python(program);
      Duration read = Duration.ofNanos(System.nanoTime() - startNs);
      System.out.printf(
          "from an .h5ad and a Parquet file: served after %.1f s, first batch after %.1f s%n",
          served.toMillis() / 1e3, read.toMillis() / 1e3);
      assertThat(batch).contains("<ddstore.Store 'rows': 1000 rows", "array([  0, 999])");
      assertThat(read).as("time to the first batch").isLessThan(Duration.ofMinutes(3));
      assertThat(text("out"))
          .contains("rows: 1,000 rows, ", "cells: 1,000 rows, ", " on 2 ranks, loaded in ");
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(cells(handles))))
          .isEqualTo("rw-------");
      assertThat(python(CHECK)).isEqualTo("equal");
      trained =
          python(TRAIN.formatted(codeOf("docs/python.md"), codeOf("docs/guide/single-cell.md")));
      assertThatThrownBy(() -> new HandleFiles(cells(handles), List.of("cells")).prepare())
          .hasMessage(
              "--handle %s: 1,000 rows of store \"cells\" are served with it: choose another file,"
                  + " or end that program",
              cells(handles));

      String before = Files.readString(cells(handles));
      server.children().forEach(ProcessHandle::destroyForcibly);
      await("handles of the restored rows")
          .atMost(PATIENCE)
          .until(() -> text("err").split("are loaded again", -1).length == 3);
      assertThat(Files.readString(cells(handles))).isNotEqualTo(before);
      assertThat(python(CHECK)).isEqualTo("equal");

      assertThat(endOfAReader(handles.resolve("rows.json"), () -> server.stop(PATIENCE)))
          .isEqualTo("StoreGoneError store \"rows\" is gone: it was dropped");
      assertThat(server.awaitExit(PATIENCE)).isEqualTo(128 + 15);
      server.assertNothingLeft();
    }
    assertThat(text("err")).endsWith("ddstore: interrupted\n");
    assertThat(handles).doesNotExist();
    new Launcher(work).assertNoTemporaryFiles();
    Needed.check("PyTorch", !trained.endsWith("No module named 'torch'"), () -> trained);
    assertThat(trained).endsWith("trained");
  }

  private static Path cells(Path handles) {
    return handles.resolve("cells.json");
  }

  private interface Ending {
    void run() throws Exception;
  }

  /** Returns what a process prints that reads rows while the server ends. */
  private static String endOfAReader(Path handle, Ending ending) throws Exception {
    Files.deleteIfExists(work.resolve("held"));
    Process reader = pythonBuilder(HOLD.formatted(handle)).start();
    try {
      await("reads").atMost(PATIENCE).until(() -> Files.exists(work.resolve("held")));
      ending.run();
      return new String(reader.getInputStream().readAllBytes(), UTF_8).strip();
    } finally {
      reader.destroyForcibly().waitFor();
    }
  }

  /** The executors end by themselves; the handle stays, and tells that the rows are lost. */
  @Test
  void killedDriverLeavesAHandleThatCanBeReplaced() throws Exception {
    Path folder = Files.createDirectory(work.resolve("killed"));
    Path handle = folder.resolve("rows.json");
    try (ProcessTree server =
        serve(folder, "--input ../rows.parquet --executors 1 --ranks 1 --handle rows.json")) {
      ProcessHandle driver = server.children().get(0).parent().orElseThrow();
      driver.destroyForcibly();
      server.awaitAll(PATIENCE);
      server.assertNothingLeft();
    }
    assertThat(python(HOLD.formatted(handle)))
        .startsWith("StoreLostError rows [0, ..) of store \"rows\" are lost: data port 127.0.0.1:")
        .endsWith(": nobody listens there: its process has ended");
    new HandleFiles(handle, List.of("rows")).prepare();
    assertThat(handle).exists();
  }
}
