// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.kernel;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.ddstore.notebook.CellOutput;
import org.ddstore.notebook.display.MimeBundle;

/**
 * The output of the running cell, for code in any thread. Between cells the standard streams are
 * those of the kernel, and values are printed there.
 */
final class CurrentCell implements CellOutput {
  private volatile CellOutput target = CellOutput.PLAIN;

  /** The time in which a cell runs. */
  interface Scope extends AutoCloseable {
    /** Restores the streams of the kernel. The caller has sent the output of the cell before. */
    @Override
    void close();
  }

  /** Redirects the standard streams and shown values to a cell. */
  Scope begin(CellMessages messages) {
    PrintStream out = System.out;
    PrintStream err = System.err;
    System.setOut(new PrintStream(messages.out(), true, StandardCharsets.UTF_8));
    System.setErr(new PrintStream(messages.err(), true, StandardCharsets.UTF_8));
    target = messages;
    return () -> {
      target = CellOutput.PLAIN;
      System.setOut(out);
      System.setErr(err);
    };
  }

  @Override
  public void show(MimeBundle bundle) {
    target.show(bundle);
  }
}
