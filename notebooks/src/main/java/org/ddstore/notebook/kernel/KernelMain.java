// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.kernel;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.ddstore.cli.ErrorReport;
import org.ddstore.notebook.NotebookEngine;
import org.ddstore.notebook.NotebookOptions;
import org.dflib.jjava.jupyter.channels.JupyterConnection;
import org.dflib.jjava.jupyter.kernel.KernelConnectionProperties;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The program that Jupyter starts for each notebook. Ends on request, or with Jupyter. */
@Command(name = "ddstore-kernel", description = "Runs the cells of one notebook.")
public final class KernelMain implements Callable<Integer> {
  /** System property that the configuration of the log reads. */
  private static final String LOG_FILE = "ddstore.notebook.log";

  private static final String LOG_CONFIGURATION = "log4j2.configurationFile";

  /** Environment variable that Jupyter sets to the id of its process. */
  private static final String JUPYTER_PROCESS = "JPY_PARENT_PID";

  @Parameters(paramLabel = "FILE", description = "Jupyter's file with ports and key.")
  private Path connectionFile;

  @Option(names = "--executors", paramLabel = "N", description = "Executors; 2 by default.")
  private int executors = NotebookOptions.defaults().executors();

  @Option(names = "--cores", paramLabel = "N", description = "Cores per executor; 2 by default.")
  private int cores = NotebookOptions.defaults().cores();

  @Option(
      names = "--memory",
      paramLabel = "MB",
      description = "Heap of one executor in MiB; 1024 by default.")
  private int memoryMb = NotebookOptions.defaults().memoryMb();

  @Option(
      names = "--master",
      paramLabel = "URL",
      description = "Spark master; by default executors of this machine.")
  private Optional<String> master = Optional.empty();

  @Option(names = "--conf", paramLabel = "KEY=VALUE", description = "Setting of Spark.")
  private Map<String, String> settings = new LinkedHashMap<>();

  @Option(
      names = "--logs",
      paramLabel = "DIR",
      description = "Folder for the log of Spark; the temporary folder by default.")
  private Path logs = Path.of(System.getProperty("java.io.tmpdir"));

  @Option(names = "--no-progress", description = "Shows no bars for Spark jobs.")
  private boolean hidesProgress;

  /** Runs the kernel, and ends the JVM. */
  public static void main(String[] arguments) {
    CommandLine command =
        new CommandLine(new KernelMain())
            .setParameterExceptionHandler(ErrorReport::printUsage)
            .setExecutionExceptionHandler((failure, self, parsed) -> print(failure, self));
    System.exit(command.execute(arguments));
  }

  private static int print(Exception failure, CommandLine command) {
    command.getErr().println("ddstore: " + failure);
    return CommandLine.ExitCode.SOFTWARE;
  }

  @Override
  public Integer call() throws IOException, GeneralSecurityException {
    openLog();
    KernelConnectionProperties properties =
        KernelConnectionProperties.parse(Files.readString(connectionFile));
    NotebookOptions options = new NotebookOptions(master, executors, cores, memoryMb, settings);
    CurrentCell current = CurrentCell.install();
    try (NotebookEngine engine = NotebookEngine.open(options, current)) {
      endWithJupyter();
      NotebookKernel kernel = new NotebookKernel(engine, current, !hidesProgress);
      JupyterConnection connection = new JupyterConnection(properties);
      kernel.becomeHandlerForConnection(connection);
      connection.connect();
      kernel.onStartup();
      connection.waitUntilClose();
    }
    return CommandLine.ExitCode.OK;
  }

  /** Names the file before the first class of Spark logs. */
  private void openLog() throws IOException {
    Files.createDirectories(logs);
    Path file = logs.resolve("kernel-%d.log".formatted(ProcessHandle.current().pid()));
    System.setProperty(LOG_FILE, file.toString());
    if (System.getProperty(LOG_CONFIGURATION) == null) {
      System.setProperty(
          LOG_CONFIGURATION, "classpath:org/ddstore/notebook/kernel/log4j2.properties");
    }
    System.err.println("ddstore: log of Spark: " + file);
  }

  /** Ends this JVM when Jupyter has ended without a request, such as by a kill. */
  private static void endWithJupyter() {
    Optional<CompletableFuture<Void>> unused =
        Optional.ofNullable(System.getenv(JUPYTER_PROCESS))
            .map(Long::valueOf)
            .flatMap(ProcessHandle::of)
            .map(jupyter -> jupyter.onExit().thenRun(() -> System.exit(1)));
  }
}
