// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.ddstore.cli.Launcher;
import org.ddstore.contract.ProcessTree;

/** A {@code ./ddstore notebook} that runs at a terminal. Owns its processes. */
final class JupyterServer implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofMinutes(10);
  private static final Pattern ADDRESS =
      Pattern.compile("(http://127\\.0\\.0\\.1:\\d+/)(\\?token=[0-9a-f]{48})");

  private static final String CONTROL_C = "\u0003";

  private final Launcher launcher;
  private final ProcessTree processes;
  private final Path log;
  private URI base;
  private String token;

  private JupyterServer(Launcher launcher, ProcessTree processes, Path log) {
    this.launcher = launcher;
    this.processes = processes;
    this.log = log;
  }

  /**
   * Starts a server on a free port, and waits for its address.
   *
   * @param folder folder for its log and its temporary files
   * @param options options of the session
   */
  static JupyterServer start(Path folder, String... options) throws IOException {
    Launcher launcher = new Launcher(folder);
    ProcessBuilder builder = launcher.builder("notebook", "--port", Integer.toString(freePort()));
    builder.command().addAll(List.of(options));
    // Without a terminal Jupyter would not ask after ^C.
    builder.command("script", "-qec", String.join(" ", builder.command()), "/dev/null");
    Path log = folder.resolve("jupyter.log");
    builder.redirectErrorStream(true).redirectOutput(log.toFile());
    JupyterServer server = new JupyterServer(launcher, ProcessTree.start(builder), log);
    try {
      server.awaitAddress();
    } catch (RuntimeException e) {
      server.close();
      throw e;
    }
    return server;
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  private void awaitAddress() {
    Matcher address =
        await("address of Jupyter")
            .atMost(LIMIT)
            .until(() -> ADDRESS.matcher(log()), Matcher::find);
    base = URI.create(address.group(1));
    token = address.group(2);
  }

  /** Returns what the server has printed. */
  String log() throws IOException {
    return Files.readString(log);
  }

  /** Returns the printed address without its token. */
  URI base() {
    return base;
  }

  /** Returns the printed address. */
  String address() {
    return base + token;
  }

  /** Returns the address of a file below the folder of notebooks. */
  String addressOf(Path file) {
    Path notebooks = Path.of(System.getProperty("ddstore.root"), "notebooks");
    return base + "notebooks/" + notebooks.relativize(file) + token;
  }

  /** Presses ^C twice, as the server asks to. */
  void interruptTwice() throws IOException {
    processes.type(CONTROL_C);
    await("question of the server").atMost(LIMIT).until(() -> log().contains("(y/[n])"));
    processes.type(CONTROL_C);
  }

  /** Waits for the end of the server; no process, temporary file or shared memory may be left. */
  void assertEndsWithoutLeftovers() throws IOException, InterruptedException {
    processes.awaitAll(LIMIT);
    processes.assertNothingLeft();
    launcher.assertNoTemporaryFiles();
  }

  @Override
  public void close() {
    processes.close();
  }
}
