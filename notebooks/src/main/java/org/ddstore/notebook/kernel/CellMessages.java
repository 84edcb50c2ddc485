// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.kernel;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import org.ddstore.notebook.CellOutput;
import org.ddstore.notebook.display.MimeBundle;
import org.dflib.jjava.jupyter.channels.JupyterSocket;
import org.dflib.jjava.jupyter.channels.ShellReplyEnvironment;
import org.dflib.jjava.jupyter.kernel.display.DisplayData;
import org.dflib.jjava.jupyter.messages.ContentType;
import org.dflib.jjava.jupyter.messages.Message;
import org.dflib.jjava.jupyter.messages.MessageContext;
import org.dflib.jjava.jupyter.messages.publish.PublishDisplayData;
import org.dflib.jjava.jupyter.messages.publish.PublishStream;
import org.dflib.jjava.jupyter.messages.publish.PublishUpdateDisplayData;

/**
 * The messages of a running cell, which front ends show below the cell whose request is their
 * parent. Thread-safe, unlike the environment of the request.
 */
final class CellMessages implements CellOutput {
  /** Sends for threads that may be interrupted, which would end a message in the middle. */
  private static final Executor SENDER =
      Executors.newSingleThreadExecutor(
          task -> {
            Thread thread = new Thread(task, "ddstore-messages");
            thread.setDaemon(true);
            return thread;
          });

  private final JupyterSocket publisher;
  private final MessageContext request;
  private final CellStream out = new CellStream(text -> print(PublishStream.StreamType.OUT, text));
  private final CellStream err = new CellStream(text -> print(PublishStream.StreamType.ERR, text));

  CellMessages(ShellReplyEnvironment environment) {
    this.publisher = environment.getIopub();
    this.request = environment.getContext();
  }

  CellStream out() {
    return out;
  }

  CellStream err() {
    return err;
  }

  /** Sends the collected output of the cell. */
  void sendPrinted() {
    out.send();
    err.send();
  }

  private void print(PublishStream.StreamType stream, String text) {
    send(new PublishStream(stream, text));
  }

  @Override
  public void show(MimeBundle bundle) {
    sendPrinted();
    send(new PublishDisplayData(data(bundle)));
  }

  /** Shows a value that {@link #update} can replace. */
  void show(String id, MimeBundle bundle) {
    send(new PublishDisplayData(withId(id, bundle)));
  }

  /** Replaces a value by another one. */
  void update(String id, MimeBundle bundle) {
    send(new PublishUpdateDisplayData(withId(id, bundle)));
  }

  private static DisplayData withId(String id, MimeBundle bundle) {
    DisplayData data = data(bundle);
    data.setDisplayId(id);
    return data;
  }

  static DisplayData data(MimeBundle bundle) {
    DisplayData data = new DisplayData();
    bundle.data().forEach(data::putData);
    return data;
  }

  private <T extends ContentType<T>> void send(T content) {
    Message<T> message = new Message<>(request, content.getType(), content);
    CompletableFuture.runAsync(() -> publisher.sendMessage(message), SENDER).join();
  }
}
