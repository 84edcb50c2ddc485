// SPDX-License-Identifier: Apache-2.0
package org.ddstore.pages;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.ddstore.cli.Launcher;
import org.ddstore.notebook.CellException;
import org.ddstore.notebook.CellOutput;
import org.ddstore.notebook.NotebookEngine;
import org.ddstore.notebook.NotebookOptions;
import org.ddstore.notebook.Shown;
import org.ddstore.spark.SparkArchive;

/**
 * Runs the code of pages as a reader does: Java and SQL as cells of a notebook with two executors,
 * commands in a checkout. Each page begins with an empty notebook, without stores and views. The
 * pages share the notebook and its Spark. For one thread.
 */
final class PageRunner implements AutoCloseable {
  private static final long CELL_SECONDS = 180;

  /** Not linked into the folder of commands: their outputs go to a folder {@code target} there. */
  private static final Set<String> NOT_LINKED = Set.of("target", ".git");

  /** Paths that pages use in place of a folder of the reader's data. */
  private static final List<String> PLACES_OF_DATA = List.of("/data/", "hdfs:///");

  private static final String DROP_ALL =
      """
      DDStores.list(spark).forEach(ResidentStore::drop);
      for (var table : spark.catalog().listTables().collectAsList()) {
        if (table.isTemporary()) {
          spark.catalog().dropTempView(table.name());
        }
      }
      """;

  private final Path folder;
  private final PrintStream console = System.out;
  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
  private NotebookEngine notebook;
  private final List<Path> links = new ArrayList<>();
  private int pages;

  /** The folder of the current page. */
  private Path place;

  /**
   * @param folder empty folder for commands and data
   */
  PageRunner(Path folder) {
    this.folder = folder;
  }

  /** Begins a page, with an empty folder of data, and a folder of links in place of a checkout. */
  void beginPage() throws IOException {
    pages++;
    place = Files.createDirectories(folder.resolve(Integer.toString(pages)));
    Files.createDirectory(place.resolve("data"));
    try (Stream<Path> entries = Files.list(Page.ROOT)) {
      for (Path entry : entries.toList()) {
        if (!NOT_LINKED.contains(entry.getFileName().toString())) {
          links.add(Files.createSymbolicLink(place.resolve(entry.getFileName()), entry));
        }
      }
    }
  }

  /**
   * Runs a block.
   *
   * @return what it prints, and the value of the last expression of a cell
   * @throws BlockFailure if the code fails
   */
  String run(Page.Block block) throws BlockFailure, IOException, InterruptedException {
    String code = block.code();
    for (String data : PLACES_OF_DATA) {
      code = code.replace(data, place.resolve("data") + "/");
    }
    try {
      if (block.isShell()) {
        return command(block, code);
      }
      return cell(block.language().equals("sql") ? "%%sql\n" + code : code);
    } catch (CellException e) {
      throw new BlockFailure(block, String.join("\n", e.report()), e);
    } catch (AssertionError e) { // of a command: the deadline, or remains
      throw new BlockFailure(block, e.getMessage(), e);
    }
  }

  private String cell(String code) throws CellException {
    if (notebook == null) {
      // Scala's println keeps the stream that it finds when its first class is loaded.
      System.setOut(new PrintStream(printed, true, UTF_8));
      notebook =
          NotebookEngine.open(
              NotebookOptions.defaults().settings(SparkArchive.executorSettings()),
              CellOutput.PLAIN);
    }
    printed.reset();
    CompletableFuture<Void> deadline =
        CompletableFuture.runAsync(
            notebook::interrupt, CompletableFuture.delayedExecutor(CELL_SECONDS, TimeUnit.SECONDS));
    try {
      String shown = notebook.run(1, code).map(Shown::text).orElse("");
      return printed.toString(UTF_8) + shown;
    } finally {
      deadline.cancel(false);
    }
  }

  private String command(Page.Block block, String code)
      throws BlockFailure, IOException, InterruptedException {
    Launcher.Outcome outcome = new Launcher(place).bash(code);
    if (outcome.exitCode() != 0) {
      String problem = "exit code %d%n%s%n%s";
      throw new BlockFailure(
          block, problem.formatted(outcome.exitCode(), outcome.out(), outcome.err()), null);
    }
    return outcome.out();
  }

  /** Removes the links, drops all stores and views, and forgets the declarations of cells. */
  void endPage() throws CellException, IOException {
    for (Path link : links) {
      Files.delete(link);
    }
    links.clear();
    if (notebook != null) {
      cell(DROP_ALL);
      notebook.reset();
    }
  }

  @Override
  public void close() {
    try {
      if (notebook != null) {
        notebook.close();
      }
    } finally {
      System.setOut(console);
    }
  }

  /** Thrown if the code of a block fails. */
  static final class BlockFailure extends Exception {
    private static final long serialVersionUID = 1L;

    /**
     * @param error error that a reader sees
     */
    BlockFailure(Page.Block block, String error, Throwable cause) {
      super("%s: %s%nin:%n%s".formatted(block, error, block.code()), cause);
    }
  }
}
