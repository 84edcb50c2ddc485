// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.kernel;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.ddstore.notebook.NotebookEngine;
import org.ddstore.notebook.NotebookOptions;
import org.dflib.jjava.jupyter.channels.JupyterConnection;
import org.dflib.jjava.jupyter.kernel.KernelConnectionProperties;

/** The program that Jupyter starts for each notebook. Ends on request, or with Jupyter. */
public final class KernelMain {
  private static final String LOG_CONFIGURATION = "log4j2.configurationFile";

  /** Environment variable that Jupyter sets to the id of its process. */
  private static final String JUPYTER_PROCESS = "JPY_PARENT_PID";

  private KernelMain() {}

  /**
   * Runs the kernel, and ends the JVM.
   *
   * @param arguments folder for the log of Spark, Jupyter's file with ports and key, options of the
   *     session
   */
  public static void main(String... arguments) throws IOException, GeneralSecurityException {
    openLog(Path.of(arguments[0]));
    KernelConnectionProperties properties =
        KernelConnectionProperties.parse(Files.readString(Path.of(arguments[1])));
    List<String> session = List.of(arguments).subList(2, arguments.length);
    CellOutputs outputs = CellOutputs.install(!Boolean.getBoolean(NotebookOptions.EXECUTES));
    try (NotebookEngine engine = NotebookEngine.open(NotebookOptions.of(session), outputs)) {
      endWithJupyter();
      JupyterConnection connection = new JupyterConnection(properties);
      new NotebookKernel(engine, outputs, connection).becomeHandlerForConnection(connection);
      connection.connect();
      connection.waitUntilClose();
    }
    System.exit(0);
  }

  /** Names the file before the first class of Spark logs. */
  private static void openLog(Path folder) throws IOException {
    Files.createDirectories(folder);
    Path file = folder.resolve("kernel-%d.log".formatted(ProcessHandle.current().pid()));
    System.setProperty("ddstore.notebook.log", file.toString()); // read by the configuration
    if (System.getProperty(LOG_CONFIGURATION) == null) {
      System.setProperty(
          LOG_CONFIGURATION, "classpath:org/ddstore/notebook/kernel/log4j2.properties");
    }
    // A cell would show warnings if two threads log for the first time at once.
    System.setProperty("slf4j.internal.verbosity", "ERROR");
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
