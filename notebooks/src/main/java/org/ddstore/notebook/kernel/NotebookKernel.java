// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.kernel;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.ddstore.notebook.CellException;
import org.ddstore.notebook.NotebookEngine;
import org.dflib.jjava.jupyter.channels.JupyterConnection;
import org.dflib.jjava.jupyter.channels.ShellChannel;
import org.dflib.jjava.jupyter.channels.ShellHandler;
import org.dflib.jjava.jupyter.channels.ShellReplyEnvironment;
import org.dflib.jjava.jupyter.kernel.BaseKernel;
import org.dflib.jjava.jupyter.kernel.JupyterIO;
import org.dflib.jjava.jupyter.kernel.LanguageInfo;
import org.dflib.jjava.jupyter.kernel.ReplacementOptions;
import org.dflib.jjava.jupyter.kernel.comm.CommManager;
import org.dflib.jjava.jupyter.kernel.display.DisplayData;
import org.dflib.jjava.jupyter.kernel.display.Renderer;
import org.dflib.jjava.jupyter.kernel.magic.MagicsRegistry;
import org.dflib.jjava.jupyter.kernel.util.StringStyler;
import org.dflib.jjava.jupyter.messages.ContentType;
import org.dflib.jjava.jupyter.messages.Message;
import org.dflib.jjava.jupyter.messages.MessageType;
import org.dflib.jjava.jupyter.messages.publish.PublishError;
import org.dflib.jjava.jupyter.messages.publish.PublishExecuteInput;
import org.dflib.jjava.jupyter.messages.publish.PublishExecuteResult;
import org.dflib.jjava.jupyter.messages.reply.ErrorReply;
import org.dflib.jjava.jupyter.messages.reply.ExecuteReply;
import org.dflib.jjava.jupyter.messages.request.ExecuteRequest;
import org.zeromq.ZMQ;

/**
 * A kernel that answers the requests of front ends by means of a {@link NotebookEngine}. One thread
 * answers requests and sends the outputs of the cell, which runs in another one; a third one
 * interrupts and ends the kernel.
 */
final class NotebookKernel extends BaseKernel {
  private static final LanguageInfo JAVA =
      new LanguageInfo.Builder("Java")
          .version(Integer.toString(Runtime.version().feature()))
          .mimetype("text/x-java")
          .fileExtension(".java")
          .pygments("java")
          .codemirror("text/x-java")
          .build();

  private static final long SEND_INTERVAL_MS = 100;

  private final NotebookEngine engine;
  private final CellOutputs outputs;
  private final JupyterConnection connection;
  private final ExecutorService cells =
      Executors.newSingleThreadExecutor(
          cell -> {
            Thread thread = new Thread(cell, "ddstore-cells");
            thread.setDaemon(true);
            return thread;
          });

  /**
   * @param engine engine whose cells show values in {@code outputs}; closed by a shutdown
   */
  NotebookKernel(NotebookEngine engine, CellOutputs outputs, JupyterConnection connection) {
    super(
        "ddstore",
        JAVA.getVersion(),
        JAVA,
        List.of(),
        null,
        new JupyterIO(UTF_8),
        new CommManager(),
        new Renderer(),
        null,
        new MagicsRegistry(),
        false,
        new StringStyler.Builder().build());
    this.engine = engine;
    this.outputs = outputs;
    this.connection = connection;
  }

  /** Unlike that of the library, names the error of the cell, and refuses the cells that wait. */
  @Override
  protected synchronized void handleExecuteRequest(
      ShellReplyEnvironment environment, Message<ExecuteRequest> message) {
    ExecuteRequest request = message.getContent();
    environment.setBusyDeferIdle();
    int count = executionCount.getAndIncrement();
    environment.publish(new PublishExecuteInput(request.getCode(), count));
    try {
      execute(environment, count, request.getCode())
          .ifPresent(shown -> environment.publish(new PublishExecuteResult(count, shown)));
      environment.reply(new ExecuteReply(count, Map.of()));
    } catch (CellException e) {
      environment.publish(new PublishError(e.name(), e.getMessage(), e.report()));
      // Before the reply: what is sent after it is executed.
      ShellChannel shell = (ShellChannel) environment.getShell();
      List<Message<?>> waiting = request.shouldStopOnError() ? waiting(shell) : List.of();
      ErrorReply error = new ErrorReply(e.name(), e.getMessage(), e.report());
      error.setExecutionCount(count);
      environment.replyError(ExecuteReply.MESSAGE_TYPE.error(), error);
      waiting.forEach(each -> answerWithoutExecution(shell, each));
    }
  }

  /** Takes the requests that were sent while a cell ran. */
  private static List<Message<?>> waiting(ShellChannel shell) {
    List<Message<?>> waiting = new ArrayList<>();
    while ((shell.getEvents() & ZMQ.Poller.POLLIN) != 0) {
      waiting.add(shell.readMessage());
    }
    return waiting;
  }

  /** Refuses to execute a cell, and answers any other request, as the channel itself does. */
  @SuppressWarnings({"unchecked", "rawtypes"})
  private void answerWithoutExecution(ShellChannel shell, Message<?> request) {
    ShellReplyEnvironment environment = connection.prepareReplyEnv(shell, request);
    MessageType<?> type = request.getHeader().getType();
    ShellHandler handler = connection.getHandler(type);
    if (type.equals(MessageType.EXECUTE_REQUEST)) {
      environment.setBusyDeferIdle();
      environment.reply(
          new Message<>(
              environment.getContext(),
              (MessageType) MessageType.EXECUTE_REPLY,
              Map.of("status", "aborted"))); // the library has no such reply
    } else if (handler != null) {
      handler.handle(environment, request);
    }
    environment.resolveDeferrals();
    if (environment.isMarkedForShutdown()) {
      connection.close();
    }
  }

  /** Runs a cell, and sends its outputs meanwhile. */
  private Optional<DisplayData> execute(ShellReplyEnvironment environment, int count, String code)
      throws CellException {
    Future<Optional<DisplayData>> cell =
        cells.submit(() -> engine.run(count, code).map(CellOutputs::data));
    try {
      while (true) {
        try {
          return cell.get(SEND_INTERVAL_MS, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
          outputs.send(content -> publish(environment, content));
        }
      }
    } catch (ExecutionException e) {
      if (e.getCause() instanceof CellException failure) {
        throw failure;
      }
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      throw new IllegalStateException("nothing interrupts this thread", e);
    } finally {
      outputs.send(content -> publish(environment, content));
    }
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  private static void publish(ShellReplyEnvironment environment, ContentType content) {
    environment.publish(content);
  }

  @Override
  public Object evalRaw(String source) {
    throw new UnsupportedOperationException("cells are executed by handleExecuteRequest");
  }

  /** Shows nothing: the pages of the Javadoc say more. */
  @Override
  public DisplayData inspect(String code, int at, boolean extraDetail) {
    return null;
  }

  @Override
  public ReplacementOptions complete(String code, int at) {
    String written = code.substring(0, code.offsetByCodePoints(0, at));
    int[] start = new int[1];
    List<String> texts = engine.complete(written, start);
    return new ReplacementOptions(texts, written.codePointCount(0, start[0]), at);
  }

  @Override
  public String isComplete(String code) {
    return IS_COMPLETE_MAYBE;
  }

  @Override
  public void interrupt() {
    engine.interrupt();
  }

  @Override
  public void onShutdown(boolean isRestarting) {
    engine.close();
  }
}
