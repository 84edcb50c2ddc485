// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.peers;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.ddstore.benchmarks.driver.ChildProcesses;
import org.ddstore.types.DDStoreException;

/**
 * A program that reads rows on request. It is started with the path of a task, prints a line of
 * JSON about itself, answers each line with a line, and ends with its input. A program that answers
 * late is killed with all processes below it. Owned by its {@link ChildProcesses}. Not thread-safe.
 */
final class PeerProcess {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final int SHOWN_CHARACTERS = 300;
  private static final int END_LIMIT_MS = 2000;

  private final String name;
  private final Process process;
  private final Path errors;
  private final Duration patience;
  private final BufferedReader replies;
  private final PrintStream requests;
  private final AtomicBoolean isLate = new AtomicBoolean();
  private Hello hello;
  private boolean isUnusable;

  /**
   * What a program says about itself.
   *
   * @param rows number of rows that it holds, from row 0 on
   * @param startUs times of its start in us: import, convert
   */
  record Hello(
      String version,
      int rows,
      Map<String, String> settings,
      Set<PeerCase> cases,
      Map<String, Double> startUs) {}

  private PeerProcess(String name, Process process, Path errors, Duration patience) {
    this.name = name;
    this.process = process;
    this.errors = errors;
    this.patience = patience;
    this.replies = process.inputReader(StandardCharsets.UTF_8);
    this.requests = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
  }

  /**
   * Starts a program and waits for its first line.
   *
   * @param name name for messages
   * @param command program and arguments, to which the path of the task is added
   * @param folder existing folder for the task, the errors, and the scratch folder, in which the
   *     program is started
   * @param patience maximum time of a reply
   * @throws DDStoreException if the program cannot be started, does not answer, or breaks the
   *     protocol
   */
  static PeerProcess start(
      ChildProcesses owner,
      String name,
      List<String> command,
      Map<String, String> environment,
      Path folder,
      PeerTask task,
      Duration patience)
      throws IOException {
    Path file = folder.resolve("task.json");
    MAPPER.writeValue(file.toFile(), task);
    List<String> words = new ArrayList<>(command);
    words.add(file.toString());
    Path errors = folder.resolve("errors.txt");
    ProcessBuilder builder = new ProcessBuilder(words).redirectError(errors.toFile());
    builder.directory(Path.of(task.scratch()).toFile());
    builder.environment().putAll(environment);
    PeerProcess peer;
    try {
      peer = new PeerProcess(name, owner.start(builder), errors, patience);
    } catch (IOException e) {
      throw new DDStoreException("%s: %s".formatted(name, e.getMessage()), e);
    }
    peer.hello = peer.readHello(task.rows());
    return peer;
  }

  String name() {
    return name;
  }

  Hello hello() {
    return hello;
  }

  private Hello readHello(int rows) throws IOException {
    JsonNode line = readLine();
    Set<PeerCase> cases = EnumSet.noneOf(PeerCase.class);
    for (PeerCase known : PeerCase.values()) {
      for (JsonNode named : line.path("cases")) {
        if (named.asText().equals(known.toString())) {
          cases.add(known);
        }
      }
    }
    if (cases.isEmpty()) {
      throw broken("its first line has no known \"cases\"", line);
    }
    int held = line.path("rows").asInt(rows);
    if (held < 1 || held > rows) {
      throw broken("\"rows\" outside [1, %d]".formatted(rows), line);
    }
    Map<String, String> settings = new LinkedHashMap<>();
    JsonNode published = line.path("settings");
    published.fieldNames().forEachRemaining(key -> settings.put(key, text(published.get(key))));
    Map<String, Double> start = new LinkedHashMap<>();
    JsonNode times = line.path("startUs");
    times.fieldNames().forEachRemaining(key -> start.put(key, times.get(key).asDouble()));
    return new Hello(line.path("version").asText(), held, settings, cases, start);
  }

  private static String text(JsonNode value) {
    return value.isTextual() ? value.asText() : value.toString();
  }

  /**
   * Asks for a turn and waits for its result.
   *
   * @param workers worker processes, for {@link PeerCase#MEMORY}
   * @throws DDStoreException if the program fails, does not answer, or breaks the protocol
   */
  PeerTurn turn(PeerCase wanted, double seconds, int workers) throws IOException {
    Map<String, Object> request = new LinkedHashMap<>();
    request.put("case", wanted.toString());
    request.put("seconds", seconds);
    if (wanted == PeerCase.MEMORY) {
      request.put("workers", workers);
    }
    requests.println(MAPPER.writeValueAsString(request));
    JsonNode reply = readLine();
    if (reply.has("error")) {
      throw new DDStoreException("%s: %s: %s".formatted(name, wanted, reply.get("error").asText()));
    }
    List<String> times =
        switch (wanted) {
          case START -> List.of("openUs", "firstBatchUs");
          case MEMORY -> List.of("bytes");
          default -> List.of("microsPerRow");
        };
    for (String needed : times) {
      if (!(reply.path(needed).asDouble(0) > 0)) {
        throw broken("\"%s\" must be a number above 0".formatted(needed), reply);
      }
    }
    if (!reply.path("mismatches").canConvertToLong() || reply.get("mismatches").asLong() < 0) {
      throw broken("\"mismatches\" must be a number of rows", reply);
    }
    long mismatches = reply.get("mismatches").asLong();
    if (wanted.isEpoch()) {
      boolean isWhole = reply.path("digest").asText().equals(PeerRows.digest(hello.rows()));
      mismatches = isWhole ? mismatches : Math.max(1, mismatches);
    }
    return switch (wanted) {
      case START ->
          new PeerTurn(
              (reply.get("openUs").asDouble() + reply.get("firstBatchUs").asDouble()) / 1e3,
              reply.get("openUs").asDouble() / 1e3,
              mismatches);
      case MEMORY -> new PeerTurn(reply.get("bytes").asDouble() / (1 << 20), 0, mismatches);
      default -> new PeerTurn(reply.get("microsPerRow").asDouble(), 0, mismatches);
    };
  }

  private JsonNode readLine() throws IOException {
    CompletableFuture<Void> deadline =
        CompletableFuture.runAsync(
            this::killLate,
            CompletableFuture.delayedExecutor(patience.toMillis(), TimeUnit.MILLISECONDS));
    String line;
    try {
      line = replies.readLine();
    } finally {
      deadline.cancel(false);
    }
    isUnusable = true;
    if (isLate.get()) {
      throw new DDStoreException(
          "%s: no answer within %.1f s; it was killed%s"
              .formatted(name, patience.toMillis() / 1e3, lastError()));
    }
    if (line == null) {
      throw new DDStoreException("%s: ended early%s%s".formatted(name, status(), lastError()));
    }
    JsonNode json;
    try {
      json = MAPPER.readTree(line);
    } catch (JsonProcessingException e) {
      throw broken("no JSON", line);
    }
    if (!json.isObject()) {
      throw broken("no object of JSON", line);
    }
    isUnusable = false;
    return json;
  }

  /**
   * Returns the exit status, which tells a signal; nothing if the program only closed its output.
   */
  private String status() {
    try {
      return process.waitFor(END_LIMIT_MS, TimeUnit.MILLISECONDS)
          ? " with status " + process.exitValue()
          : "";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "";
    }
  }

  private DDStoreException broken(String problem, Object line) {
    isUnusable = true;
    return new DDStoreException(
        "%s: %s in the line %s".formatted(name, problem, cut(line.toString())));
  }

  private static String cut(String text) {
    return text.length() <= SHOWN_CHARACTERS ? text : text.substring(0, SHOWN_CHARACTERS) + "...";
  }

  /** Returns the last line that the program has printed to standard error, for messages. */
  private String lastError() throws IOException {
    List<String> lines =
        new String(Files.readAllBytes(errors), StandardCharsets.UTF_8)
            .lines()
            .filter(line -> !line.isBlank())
            .toList();
    return lines.isEmpty() ? "" : ": " + cut(lines.get(lines.size() - 1).strip());
  }

  /** Returns whether the program has ended, was killed, or has broken the protocol. */
  boolean isUnusable() {
    return isUnusable;
  }

  private void killLate() {
    isLate.set(true);
    kill();
  }

  /**
   * Kills the program. Processes below it have a while to end, because one of Python's removes the
   * shared memory of its parent.
   */
  void kill() {
    List<ProcessHandle> below = process.descendants().toList();
    process.destroyForcibly();
    below.forEach(ProcessHandle::destroy);
    CompletableFuture.delayedExecutor(END_LIMIT_MS, TimeUnit.MILLISECONDS)
        .execute(() -> below.forEach(ProcessHandle::destroyForcibly));
  }

  /** Ends the input of the program and waits for its exit; kills it after a while. */
  void end() throws InterruptedException {
    requests.close();
    if (!process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS)) {
      kill();
    }
  }

  @Override
  public String toString() {
    return "PeerProcess[%s, pid %d]".formatted(name, process.pid());
  }
}
