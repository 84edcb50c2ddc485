// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.ddstore.benchmarks.driver.ChildProcesses;
import org.ddstore.types.DDStoreException;

/**
 * A process that reads rows on request: a line with a way and seconds, answered by the microseconds
 * per row and the number of wrong rows. Owned by its {@link ChildProcesses}.
 */
final class ReadingProcess {
  private final String name;
  private final BufferedReader replies;
  private final PrintStream requests;

  /** The result of a turn. */
  record Turn(double microsPerRow, long mismatches) {}

  private ReadingProcess(String name, Process process) {
    this.name = name;
    this.replies = process.inputReader(StandardCharsets.UTF_8);
    this.requests = new PrintStream(process.getOutputStream(), true, StandardCharsets.US_ASCII);
  }

  /**
   * @param name name for messages
   */
  static ReadingProcess start(ChildProcesses owner, String name, ProcessBuilder builder)
      throws IOException {
    return new ReadingProcess(
        name, owner.start(builder.redirectError(ProcessBuilder.Redirect.INHERIT)));
  }

  /**
   * Returns the next line. Blocks.
   *
   * @throws DDStoreException if the process has ended
   */
  String readLine() throws IOException {
    String line = replies.readLine();
    if (line == null) {
      throw new DDStoreException("%s has ended early: see its output above".formatted(name));
    }
    return line;
  }

  /** Reads for about {@code seconds}. Blocks. */
  Turn turn(PythonWay way, double seconds) throws IOException {
    requests.println(way + " " + seconds);
    String[] words = readLine().split(" ", -1);
    return new Turn(Double.parseDouble(words[0]), Long.parseLong(words[1]));
  }
}
