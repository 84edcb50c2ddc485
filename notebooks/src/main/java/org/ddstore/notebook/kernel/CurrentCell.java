// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.kernel;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.ddstore.notebook.CellOutput;
import org.ddstore.notebook.display.MimeBundle;

/**
 * The output of the cell that runs: what its code, in any thread, prints and shows. Between cells
 * the standard streams are those of the kernel, and values are printed there.
 */
final class CurrentCell implements CellOutput {
  private volatile CellOutput target = CellOutput.PLAIN;

  /** The time in which a cell runs. */
  interface Scope extends AutoCloseable {
    /** Ends the scope; what the cell has printed was sent before. */
    @Override
    void close();
  }

  /** Sends what the code prints and shows to a cell. */
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
