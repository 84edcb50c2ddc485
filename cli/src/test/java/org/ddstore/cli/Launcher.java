// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.ddstore.contract.ProcessTree;
import org.ddstore.spark.SparkArchive;

/** Runs {@code ./ddstore} as a user does, and looks for what it left behind. */
public final class Launcher {
  private static final Path ROOT = Path.of(System.getProperty("ddstore.root"));

  /** A notebook that trains takes minutes beside other tests. */
  private static final Duration LIMIT = Duration.ofMinutes(15);

  private final Path directory;
  private final List<String> javaOptions = new ArrayList<>();

  /**
   * @param directory for output and temporary files of the commands
   */
  public Launcher(Path directory) {
    this.directory = directory;
  }

  /** Adds a setting for the JVMs of later commands. */
  public void set(String key, String value) {
    javaOption("-D" + key + "=" + value);
  }

  /** Adds an option that has no spaces for the JVMs of later commands. */
  public void javaOption(String option) {
    javaOptions.add(option);
  }

  /** The outcome of a command. */
  public record Outcome(int exitCode, String out, String err) {
    /** The last line of the output. */
    public JsonNode json() throws IOException {
      return new ObjectMapper().readTree(out.lines().reduce((a, b) -> b).orElseThrow());
    }
  }

  /** Runs a command to its end; it must leave no process, temporary file or shared memory. */
  public Outcome run(String... arguments) throws IOException, InterruptedException {
    return execute(builder(arguments));
  }

  /** Runs a command line of words, among them {@code %s} for each value, in the same way. */
  public Outcome command(String line, Object... values) throws IOException, InterruptedException {
    return run(words(line, values));
  }

  static String[] words(String line, Object... values) {
    Iterator<Object> next = List.of(values).iterator();
    return Stream.of(line.split(" ", -1))
        .map(word -> word.equals("%s") ? next.next().toString() : word)
        .toArray(String[]::new);
  }

  /**
   * Runs lines of a shell, until one fails, in the same way. Waits for the processes that they have
   * started: those of mpirun end after it.
   */
  public Outcome bash(String lines) throws IOException, InterruptedException {
    ProcessBuilder shell = environment(new ProcessBuilder("bash", "-e", "-c", lines));
    return execute(shell, true);
  }

  /** Runs a command of {@link #builder} to its end in the same way. */
  Outcome execute(ProcessBuilder command) throws IOException, InterruptedException {
    return execute(command, false);
  }

  private Outcome execute(ProcessBuilder command, boolean awaitsAll)
      throws IOException, InterruptedException {
    Path out = directory.resolve("out.txt");
    Path err = directory.resolve("err.txt");
    command.redirectOutput(out.toFile()).redirectError(err.toFile());
    int exitCode;
    try (ProcessTree processes = ProcessTree.start(command)) {
      exitCode = processes.awaitExit(LIMIT);
      if (awaitsAll) {
        processes.awaitAll(LIMIT);
      }
      processes.assertNothingLeft();
    }
    assertNoTemporaryFiles();
    return new Outcome(exitCode, Files.readString(out, UTF_8), Files.readString(err, UTF_8));
  }

  /** Returns a command that a test starts itself, with the temporary folder of this launcher. */
  public ProcessBuilder builder(String... arguments) throws IOException {
    List<String> command = new ArrayList<>(List.of(ROOT.resolve("ddstore").toString()));
    command.addAll(List.of(arguments));
    return environment(new ProcessBuilder(command));
  }

  private ProcessBuilder environment(ProcessBuilder builder) throws IOException {
    builder.directory(directory.toFile());
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    List<String> options = SparkArchive.quickStart();
    options.add("-Djava.io.tmpdir=" + Files.createDirectories(temporary()));
    options.addAll(javaOptions);
    builder.environment().put("JDK_JAVA_OPTIONS", String.join(" ", options));
    builder.environment().keySet().removeAll(Set.of("SPARK_LOCAL_DIRS", "TMPDIR"));
    return builder;
  }

  /** Fails if commands have left temporary files. */
  public void assertNoTemporaryFiles() throws IOException {
    assertThat(names(temporary())).as("temporary files left").isEmpty();
  }

  Path temporary() {
    return directory.resolve("temporary");
  }

  private static List<String> names(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> !name.startsWith("hsperfdata_"))
          .toList();
    }
  }
}
