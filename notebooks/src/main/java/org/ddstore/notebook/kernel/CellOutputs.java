// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.kernel;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import org.ddstore.notebook.CellOutput;
import org.ddstore.notebook.Shown;
import org.dflib.jjava.jupyter.kernel.display.DisplayData;
import org.dflib.jjava.jupyter.kernel.display.mime.MIMEType;
import org.dflib.jjava.jupyter.messages.ContentType;
import org.dflib.jjava.jupyter.messages.publish.PublishDisplayData;
import org.dflib.jjava.jupyter.messages.publish.PublishStream;
import org.dflib.jjava.jupyter.messages.publish.PublishStream.StreamType;

/**
 * What cells print and show, in this order, until the thread of the kernel sends it: the threads of
 * cells may be interrupted, which would end a message in the middle and close its socket. Printed
 * text is collected, because front ends refuse thousands of messages per second. Thread-safe.
 */
final class CellOutputs implements CellOutput {
  private final Deque<ContentType<?>> messages = new ArrayDeque<>();
  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
  private StreamType printedTo = StreamType.OUT;

  private final boolean showsProgress;

  private CellOutputs(boolean showsProgress) {
    this.showsProgress = showsProgress;
  }

  /**
   * Replaces the standard streams of this JVM once for all cells: libraries keep the stream that
   * they find first, such as Scala, by which Spark prints tables.
   *
   * @param showsProgress whether cells show the state of Spark, which differs from run to run
   */
  static CellOutputs install(boolean showsProgress) {
    CellOutputs outputs = new CellOutputs(showsProgress);
    System.setOut(new PrintStream(outputs.new Stream(StreamType.OUT), true, UTF_8));
    System.setErr(new PrintStream(outputs.new Stream(StreamType.ERR), true, UTF_8));
    return outputs;
  }

  /** Standard output or error. */
  private final class Stream extends OutputStream {
    private final StreamType type;

    Stream(StreamType type) {
      this.type = type;
    }

    @Override
    public void write(int value) {
      write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {
      synchronized (CellOutputs.this) {
        if (printedTo != type) {
          endText();
          printedTo = type;
        }
        printed.write(bytes, offset, length);
      }
    }
  }

  private void endText() {
    if (printed.size() > 0) {
      messages.add(new PublishStream(printedTo, printed.toString(UTF_8)));
      printed.reset();
    }
  }

  @Override
  public synchronized void show(Shown value) {
    endText();
    messages.add(new PublishDisplayData(data(value)));
  }

  @Override
  public void progress(String line) {
    if (showsProgress) {
      System.out.println(line);
    }
  }

  static DisplayData data(Shown value) {
    DisplayData data = new DisplayData(value.text());
    value.png().ifPresent(png -> data.putData(MIMEType.IMAGE_PNG, png));
    return data;
  }

  /** Hands the collected messages to a sender. */
  void send(Consumer<ContentType<?>> sender) {
    Deque<ContentType<?>> all;
    synchronized (this) {
      endText();
      all = new ArrayDeque<>(messages);
      messages.clear();
    }
    all.forEach(sender);
  }
}
