// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.kernel;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.ddstore.cli.InProcess;
import org.ddstore.contract.Needed;
import org.ddstore.spark.Leftovers;
import org.ddstore.spark.SparkArchive;

/**
 * A real client of Jupyter, in Python, and the kernel that it has started. Owns both processes. For
 * one thread.
 */
final class JupyterClient implements AutoCloseable {
  private static final Path ROOT = Path.of(System.getProperty("ddstore.root"));
  private static final Path SCRIPT =
      ROOT.resolve("notebooks/src/test/resources/org/ddstore/notebook/kernel/client.py");
  private static final Path JAVA_OPTIONS =
      ROOT.resolve("spark-connector/src/main/launcher/java-options");

  private static final Duration LIMIT = Duration.ofMinutes(10);
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Path temporary;
  private final Process client;
  private final BufferedReader answers;
  private final Writer commands;
  private final long kernel;
  private final Set<ProcessHandle> processes = new HashSet<>();

  private JupyterClient(Path temporary, Process client) throws IOException {
    this.temporary = temporary;
    this.client = client;
    this.answers = client.inputReader(UTF_8);
    this.commands = client.outputWriter(UTF_8);
    this.kernel = answer().get("pid").asLong();
  }

  /** Skips the test without Jupyter, or fails in CI. */
  static void require() throws IOException, InterruptedException {
    Process check = new ProcessBuilder(Needed.PYTHON, "-c", "import jupyter_client").start();
    Needed.check(
        "Jupyter", check.waitFor() == 0, () -> Needed.PYTHON + " has no module jupyter_client");
  }

  /**
   * Starts a client, and a kernel with the class path of this JVM.
   *
   * @param folder folder for the files of both
   * @param options options of the kernel
   */
  static JupyterClient start(Path folder, String... options) throws IOException {
    Path temporary = Files.createDirectories(folder.resolve("temporary"));
    List<String> kernel = new ArrayList<>();
    kernel.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    kernel.addAll(Files.readAllLines(JAVA_OPTIONS));
    kernel.addAll(SparkArchive.quickStart());
    kernel.addAll(List.of("-Djava.awt.headless=true", "-Djava.io.tmpdir=" + temporary));
    kernel.addAll(List.of("-cp", new SparkArchive().classPath(), KernelMain.class.getName()));
    kernel.addAll(List.of(folder.resolve("logs").toString(), "{connection_file}"));
    InProcess.settings()
        .forEach((key, value) -> kernel.addAll(List.of("--conf", key + "=" + value)));
    kernel.addAll(List.of(options));
    Path description = folder.resolve("kernels/ddstore/kernel.json");
    Files.createDirectories(description.getParent());
    Map<String, ?> content =
        Map.of(
            "display_name",
            "Java",
            "language",
            "java",
            "interrupt_mode",
            "message",
            "argv",
            kernel);
    JSON.writeValue(description.toFile(), content);
    ProcessBuilder builder =
        new ProcessBuilder(Needed.PYTHON, "-B", SCRIPT.toString())
            .directory(folder.toFile())
            .redirectError(folder.resolve("client.err").toFile());
    builder.environment().remove("SPARK_LOCAL_DIRS");
    for (String name :
        List.of(
            "JUPYTER_PATH",
            "JUPYTER_RUNTIME_DIR",
            "JUPYTER_DATA_DIR",
            "JUPYTER_CONFIG_DIR",
            "IPYTHONDIR")) {
      builder.environment().put(name, folder.toString());
    }
    return new JupyterClient(temporary, builder.start());
  }

  /** Returns the process id of the kernel. */
  long kernel() {
    return kernel;
  }

  /** Runs a cell to its end. */
  Execution execute(String code) throws IOException {
    JsonNode answer = ask("execute", Map.of("code", code));
    List<JsonNode> outputs = new ArrayList<>();
    answer.get("outputs").forEach(outputs::add);
    return new Execution(outputs, answer.get("reply"));
  }

  /**
   * The outcome of a cell.
   *
   * @param outputs contents of the messages for the cell, with their types
   * @param reply content of the reply
   */
  record Execution(List<JsonNode> outputs, JsonNode reply) {
    /** Returns the outputs of a type of messages. */
    List<JsonNode> outputs(String type) {
      return outputs.stream().filter(each -> each.get("type").asText().equals(type)).toList();
    }

    /** Returns what the cell printed. */
    String printed() {
      return outputs("stream").stream()
          .map(each -> each.get("text").asText())
          .collect(Collectors.joining());
    }

    /** Returns the plain text of the value of the last expression. */
    String result() {
      assertThat(reply.get("status").asText()).as(toString()).isEqualTo("ok");
      return outputs("execute_result").get(0).at("/data/text~1plain").asText();
    }

    /** Returns the lines of the error of the cell. */
    List<String> error() {
      assertThat(reply.get("status").asText()).as(toString()).isEqualTo("error");
      List<String> lines = new ArrayList<>();
      reply.get("traceback").forEach(line -> lines.add(line.asText()));
      return lines;
    }
  }

  /** Sends a command of the script, and returns its answer. */
  JsonNode ask(String command, Map<String, ?> arguments) throws IOException {
    ProcessHandle.of(kernel).ifPresent(process -> process.descendants().forEach(processes::add));
    Map<String, Object> all = new LinkedHashMap<>(arguments);
    all.put("do", command);
    commands.write(JSON.writeValueAsString(all) + "\n");
    commands.flush();
    return answer();
  }

  private JsonNode answer() throws IOException {
    String line = answers.readLine();
    assertThat(line).as("answer of the client").isNotNull();
    JsonNode answer = JSON.readTree(line);
    assertThat(answer.has("error")).as(line).isFalse();
    return answer;
  }

  /** Shuts the kernel down; it must leave no process, temporary file or shared memory. */
  void shutdown() throws IOException {
    Set<Long> pids = new HashSet<>(Set.of(kernel));
    ask("shutdown", Map.of());
    processes.forEach(process -> pids.add(process.pid()));
    await("processes of the kernel end")
        .atMost(LIMIT)
        .until(() -> pids.stream().noneMatch(pid -> ProcessHandle.of(pid).isPresent()));
    Leftovers.assertNoSharedMemoryOf(pids);
    try (Stream<Path> files = Files.list(temporary)) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .as("temporary files left")
          .allMatch(name -> name.startsWith("hsperfdata_"));
    }
  }

  @Override
  public void close() {
    client.descendants().forEach(ProcessHandle::destroyForcibly);
    client.destroyForcibly();
  }
}
