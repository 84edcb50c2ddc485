// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.kernel;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.ddstore.notebook.CellException;
import org.ddstore.notebook.CellResult;
import org.ddstore.notebook.CodeAssist;
import org.ddstore.notebook.JobProgress;
import org.ddstore.notebook.NotebookEngine;
import org.ddstore.notebook.display.MimeBundle;
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
 * executes cells and completes code; another one interrupts and ends the kernel.
 */
final class NotebookKernel extends BaseKernel {
  private static final LanguageInfo JAVA =
      new LanguageInfo(
          "Java",
          Integer.toString(Runtime.version().feature()),
          "text/x-java",
          ".java",
          "java",
          "text/x-java",
          null);

  private final NotebookEngine engine;
  private final CurrentCell current;
  private final boolean showsProgress;

  private JupyterConnection connection;

  /**
   * @param engine engine whose cells show values in {@code current}; closed by a shutdown
   * @param showsProgress whether bars show the progress of Spark jobs
   */
  NotebookKernel(NotebookEngine engine, CurrentCell current, boolean showsProgress) {
    super(
        "ddstore",
        Optional.ofNullable(NotebookKernel.class.getPackage().getImplementationVersion())
            .orElse("0"),
        JAVA,
        List.of(),
        null,
        new JupyterIO(StandardCharsets.UTF_8),
        new CommManager(),
        new Renderer(),
        null,
        new MagicsRegistry(),
        false,
        new StringStyler.Builder().build());
    this.engine = engine;
    this.current = current;
    this.showsProgress = showsProgress;
  }

  @Override
  protected synchronized void handleExecuteRequest(
      ShellReplyEnvironment environment, Message<ExecuteRequest> message) {
    NotebookEngine.Announcement cell = engine.announce(); // before the user sees that it runs
    try (cell) {
      executeCell(environment, message);
    }
  }

  private void executeCell(ShellReplyEnvironment environment, Message<ExecuteRequest> message) {
    ExecuteRequest request = message.getContent();
    environment.setBusyDeferIdle();
    int count = request.isSilent() ? executionCount.get() : executionCount.getAndIncrement();
    if (!request.isSilent()) {
      environment.publish(new PublishExecuteInput(request.getCode(), count));
    }
    try {
      Optional<MimeBundle> result = execute(environment, count, request.getCode());
      if (result.isPresent() && !request.isSilent()) {
        environment.publish(new PublishExecuteResult(count, CellMessages.data(result.get())));
      }
      environment.reply(new ExecuteReply(count, Map.of()));
    } catch (CellException e) {
      ErrorReply error = new ErrorReply(e.name(), e.getMessage(), e.report());
      error.setExecutionCount(count);
      environment.publish(new PublishError(e.name(), e.getMessage(), e.report()));
      // Before the reply: what is sent after it is executed.
      ShellChannel shell = (ShellChannel) environment.getShell();
      List<Message<?>> waiting = request.shouldStopOnError() ? waiting(shell) : List.of();
      environment.replyError(ExecuteReply.MESSAGE_TYPE.error(), error);
      waiting.forEach(each -> answerWithoutExecution(shell, each));
    }
  }

  @Override
  public void becomeHandlerForConnection(JupyterConnection connection) {
    super.becomeHandlerForConnection(connection);
    this.connection = connection;
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
    try {
      if (type.equals(MessageType.EXECUTE_REQUEST)) {
        environment.setBusyDeferIdle();
        replyAborted(environment);
      } else if (handler != null) {
        handler.handle(environment, request);
      }
    } finally {
      environment.resolveDeferrals();
    }
    if (environment.isMarkedForShutdown()) {
      connection.close();
    }
  }

  private Optional<MimeBundle> execute(ShellReplyEnvironment environment, int count, String code)
      throws CellException {
    CellMessages messages = new CellMessages(environment);
    CurrentCell.Scope scope = current.begin(messages);
    ProgressBar bar = ProgressBar.start(messages, this::progress);
    try {
      CellResult result = engine.run(count, code);
      return result.isShown() ? Optional.of(engine.render(result.value())) : Optional.empty();
    } finally {
      bar.close();
      scope.close();
    }
  }

  private Optional<JobProgress> progress() {
    return showsProgress ? engine.progress() : Optional.empty();
  }

  /** Answers a request that is not executed; the library has no such reply. */
  @SuppressWarnings({"unchecked", "rawtypes"})
  private static void replyAborted(ShellReplyEnvironment environment) {
    environment.reply(
        new Message<>(
            environment.getContext(),
            (MessageType) MessageType.EXECUTE_REPLY,
            Map.of("status", "aborted")));
  }

  @Override
  public Object evalRaw(String source) {
    throw new UnsupportedOperationException("cells are executed by handleExecuteRequest");
  }

  @Override
  public DisplayData inspect(String code, int at, boolean extraDetail) {
    int cursor = code.offsetByCodePoints(0, at);
    return engine
        .assist(assist -> assist.inspect(code, cursor))
        .map(MimeBundle::text)
        .map(CellMessages::data)
        .orElse(null);
  }

  @Override
  public ReplacementOptions complete(String code, int at) {
    int cursor = code.offsetByCodePoints(0, at);
    CodeAssist.Completions found = engine.assist(assist -> assist.complete(code, cursor));
    return new ReplacementOptions(found.texts(), code.codePointCount(0, found.start()), at);
  }

  @Override
  public String isComplete(String code) {
    return engine
        .assist(assist -> assist.isComplete(code))
        .map(isComplete -> isComplete ? IS_COMPLETE_YES : IS_COMPLETE_BAD)
        .orElseGet(() -> CodeAssist.indent(code));
  }

  @Override
  public void interrupt() {
    engine.interrupt();
  }

  @Override
  public void onStartup() {
    installNotebookKernel(); // without the extensions of other kernels
  }

  @Override
  public void onShutdown(boolean isRestarting) {
    engine.close();
  }
}
