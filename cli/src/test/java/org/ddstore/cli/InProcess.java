// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.ddstore.cli.Launcher.Outcome;
import org.ddstore.local.EmbeddedSpark;
import org.ddstore.spark.Leftovers;
import org.ddstore.spark.SparkArchive;
import org.ddstore.spark.StrictKryo;
import picocli.CommandLine;

/**
 * Runs commands in this JVM. They share the Spark that runs here, or start one of their own where
 * none runs.
 */
public final class InProcess {
  private static final Path TEMPORARY = Path.of(System.getProperty("java.io.tmpdir"));
  private static final Duration PATIENCE = Duration.ofMinutes(10);
  private static final String OWN = "ddstore-.*-" + ProcessHandle.current().pid() + "-.*";

  private InProcess() {}

  /** Settings of a Spark whose executors live for seconds. */
  public static Map<String, String> settings() {
    Map<String, String> settings = new HashMap<>(SparkArchive.executorSettings());
    settings.put("spark.sql.shuffle.partitions", "2"); // of 200, each a task, most have no row
    settings.put("spark.ddstore.slotsTimeout", "2min"); // the machine may be busy
    return settings;
  }

  /**
   * Starts a Spark for several commands, with the serializer that rejects most; returns when its
   * executors are there.
   */
  public static EmbeddedSpark open(String name, int executors, int coresEach) {
    Map<String, String> settings = settings();
    settings.putAll(StrictKryo.SETTINGS);
    EmbeddedSpark spark = EmbeddedSpark.open(name, executors, coresEach, 1024, settings);
    int expected = executors + 1; // the driver counts
    await("executors")
        .atMost(PATIENCE)
        .until(() -> spark.session().sparkContext().getExecutorMemoryStatus().size() == expected);
    return spark;
  }

  /**
   * Runs a command line as {@link #run} does.
   *
   * @param line words of the command, among them {@code %s} for each value
   */
  public static Outcome command(String line, Object... values) throws IOException {
    return run(Launcher.words(line, values));
  }

  /** Runs a command to its end; it must leave no process, temporary file or shared memory. */
  public static Outcome run(String... arguments) throws IOException {
    Set<ProcessHandle> processes = children();
    List<String> files = files();
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine command = Main.commandLine();
    command.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));

    int exitCode;
    settings().forEach(System::setProperty); // as the user of spark-submit gives them
    try {
      exitCode = command.execute(arguments);
    } finally {
      settings().keySet().forEach(System::clearProperty);
    }

    assertThat(children()).as("processes left").isSubsetOf(processes);
    assertThat(files()).as("temporary files left").isEqualTo(files);
    Leftovers.assertNoSharedMemoryOf(Set.of(ProcessHandle.current().pid()));
    return new Outcome(exitCode, out.toString(), err.toString());
  }

  /** Closes a Spark for several commands; its executors must leave no shared memory. */
  public static void close(EmbeddedSpark spark) {
    Set<Long> executors = children().stream().map(ProcessHandle::pid).collect(Collectors.toSet());

    spark.close();

    assertThat(children()).as("processes left").isEmpty();
    Leftovers.assertNoSharedMemoryOf(executors);
  }

  private static Set<ProcessHandle> children() {
    return ProcessHandle.current().children().collect(Collectors.toSet());
  }

  private static List<String> files() throws IOException {
    try (Stream<Path> files = Files.list(TEMPORARY)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.matches(OWN))
          .sorted()
          .toList();
    }
  }
}
