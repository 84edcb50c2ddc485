// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.kernel;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.ddstore.notebook.CellOutput;
import org.ddstore.notebook.display.MimeBundle;

/**
 * The output of the running cell, for code in any thread. Between cells the standard streams are
 * those of the kernel, and values are printed there.
 */
final class CurrentCell implements CellOutput {
  private final Target out = new Target(System.out);
  private final Target err = new Target(System.err);
  private volatile CellOutput target = CellOutput.PLAIN;

  private CurrentCell() {}

  /**
   * Replaces the standard streams of this JVM once for all cells: libraries keep the stream that
   * they find first, such as Scala, by which Spark prints tables.
   */
  static CurrentCell install() {
    CurrentCell current = new CurrentCell();
    System.setOut(new PrintStream(current.out, true, StandardCharsets.UTF_8));
    System.setErr(new PrintStream(current.err, true, StandardCharsets.UTF_8));
    return current;
  }

  /** A stream that passes bytes on to another one, which changes. */
  private static final class Target extends OutputStream {
    private final OutputStream kernel;
    private volatile OutputStream stream;

    Target(OutputStream kernel) {
      this.kernel = kernel;
      this.stream = kernel;
    }

    void set(OutputStream cell) {
      stream = cell;
    }

    void reset() {
      stream = kernel;
    }

    @Override
    public void write(int value) throws IOException {
      stream.write(value);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      stream.write(bytes, offset, length);
    }

    @Override
    public void flush() throws IOException {
      stream.flush();
    }
  }

  /** The time in which a cell runs. */
  interface Scope extends AutoCloseable {
    /** Restores the streams of the kernel. The caller has sent the output of the cell before. */
    @Override
    void close();
  }

  /** Redirects the standard streams and shown values to a cell. */
  Scope begin(CellMessages messages) {
    out.set(messages.out());
    err.set(messages.err());
    target = messages;
    return () -> {
      target = CellOutput.PLAIN;
      out.reset();
      err.reset();
    };
  }

  @Override
  public void show(MimeBundle bundle) {
    target.show(bundle);
  }
}
