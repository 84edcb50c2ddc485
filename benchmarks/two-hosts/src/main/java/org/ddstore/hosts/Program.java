// SPDX-License-Identifier: Apache-2.0
package org.ddstore.hosts;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** A runner of the programs that set up hosts. They exit at once, so there is no deadline. */
final class Program {
  private Program() {}

  /**
   * Runs a program and waits for its exit. Blocks.
   *
   * @param input text written to its standard input
   * @return output of the program on standard output and standard error
   * @throws IOException if the program cannot be started or fails; contains its output
   */
  static String run(List<String> command, String input) throws IOException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    try (OutputStream stdin = process.getOutputStream()) {
      stdin.write(input.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      // The program exited before it had read all input: its status and output are reported below.
    }
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    try {
      int status = process.waitFor();
      if (status != 0) {
        throw new IOException(
            "command %s exited with status %d: %s"
                .formatted(String.join(" ", command), status, output.strip()));
      }
      return output;
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted in " + String.join(" ", command));
    }
  }
}
