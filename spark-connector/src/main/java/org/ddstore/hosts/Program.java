package org.ddstore.hosts;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Runs the programs that set up hosts. They end at once, so nothing here has a deadline. */
final class Program {
  private Program() {}

  /**
   * Runs a program to its end. Blocks.
   *
   * @param input given to its standard input
   * @return what it wrote to its standard output and error
   * @throws IOException if it cannot be started or fails; with what it wrote
   */
  static String run(List<String> command, String input) throws IOException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    try (OutputStream stdin = process.getOutputStream()) {
      stdin.write(input.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      // It ended before it had read all: its status and its text say more.
    }
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    try {
      int status = process.waitFor();
      if (status != 0) {
        throw new IOException(
            "%s ended with status %d: %s"
                .formatted(String.join(" ", command), status, said.strip()));
      }
      return said;
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted in " + String.join(" ", command));
    }
  }
}
