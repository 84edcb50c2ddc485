// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.commons.io.FileUtils;
import org.apache.commons.io.filefilter.AgeFileFilter;

/**
 * The command {@code ./ddstore notebook}: describes the kernel to Jupyter in the folder of this
 * run, then executes a notebook, or writes a script {@code serve} by which the launcher becomes
 * Jupyter.
 */
public final class NotebookCommand {
  private static final String HELP =
      """
      Usage: ddstore notebook [NOTEBOOK] [--port N] [SESSION]
             ddstore notebook --execute FILE [--output FILE] [SESSION]
      Starts Jupyter for notebooks in Java, and prints its address, which contains a token. Jupyter listens on
      127.0.0.1 only. Installs Jupyter from the distribution if it may.
        NOTEBOOK            notebook to open: a file, or a name in ${XDG_DATA_HOME:-~/.local/share}/ddstore/notebooks,
                            the folder of your notebooks, which begins with copies of those of DDStore
        --port N            port; by default the first free one from 8888
        --execute FILE      runs all cells of a notebook instead; fails with the error of a cell
        --output FILE       executed notebook; by default target/jupyter/executed/NAME
      SESSION, of Spark:
        --executors N       executors on this machine, each in its own JVM; 2 by default
        --cores N           cores per executor; 2 by default
        --memory MB         heap of one executor in MiB, 450 or more; 1024 by default
        --master URL        master of Spark, instead of executors on this machine
        --conf KEY=VALUE    setting of Spark; may be repeated
        --torch             adds PyTorch and the classes of the examples; the first run downloads 110 MB""";

  private static final String LEGAL =
      "--port, --execute, --output, --executors, --cores, --memory, --master, --conf, --torch";

  private static final int MAX_LOG_DAYS = 7;

  private final Path run;
  private final Path folder;
  private final NotebookFolder notebooks;

  /** The notebook to open, or null. */
  private String opened;

  private final Map<String, String> values = new HashMap<>();
  private final List<String> session = new ArrayList<>();

  NotebookCommand(Path root, Path run, Path data) {
    this.run = run;
    this.folder = root.resolve("target/jupyter");
    this.notebooks = new NotebookFolder(root.resolve("notebooks"), data.resolve("notebooks"));
  }

  /** Runs the command with the root of the checkout, the folder {@code run-PID}, and arguments. */
  public static void main(String... all) throws IOException, InterruptedException {
    List<String> arguments = List.of(all).subList(2, all.length);
    if (arguments.contains("--help") || arguments.contains("-h")) {
      System.out.println(HELP);
      return;
    }
    NotebookCommand command =
        new NotebookCommand(
            Path.of(all[0]), Path.of(all[1]), NotebookFolder.userData(System.getenv()));
    try {
      command.parse(arguments);
    } catch (IllegalArgumentException e) {
      System.err.println("ddstore: notebook: " + e.getMessage());
      System.err.println("See ./ddstore notebook --help");
      System.exit(2);
    }
    if (!Boolean.getBoolean("ddstore.notebook.checkOnly")) {
      System.exit(command.start());
    }
  }

  /** Throws if the arguments are illegal. */
  void parse(List<String> arguments) throws IOException {
    for (int i = 0; i < arguments.size(); i++) {
      String option = arguments.get(i);
      if (!option.startsWith("-")) {
        check(opened == null, "two notebooks: \"%s\" and \"%s\"", opened, option);
        opened = option;
        checkInput("NOTEBOOK", notebooks.find(option).toString());
        continue;
      }
      check(
          List.of(LEGAL.split(", ", -1)).contains(option),
          "unknown argument \"%s\", legal: %s",
          option,
          LEGAL);
      if (!option.equals("--torch")) { // which the launcher has added to the class path
        i++;
        check(i < arguments.size(), "%s needs a value", option);
        parse(option, arguments.get(i));
        values.put(option, arguments.get(i));
      }
    }
    boolean executes = values.containsKey("--execute");
    check(executes || !values.containsKey("--output"), "--output needs --execute");
    check(!executes || !values.containsKey("--port"), "--port cannot be used with --execute");
    check(!executes || opened == null, "--execute has a notebook, \"%s\" is a second one", opened);
  }

  private void parse(String option, String value) throws IOException {
    check(!value.contains("\n"), "%s: the value has several lines", option);
    switch (option) {
      case "--execute" -> checkInput(option, value);
      case "--output" -> checkOutput(value);
      case "--port" -> checkNumber(option, value, 1, 65_535);
      case "--memory" -> checkNumber(option, value, 450, 999_999_999); // Spark refuses less
      case "--master" -> check(!value.isEmpty(), "--master: the URL is empty");
      case "--conf" -> check(value.indexOf('=') > 0, "--conf: \"%s\" is not KEY=VALUE", value);
      default -> checkNumber(option, value, 1, 1024);
    }
    if (!List.of("--execute", "--output", "--port").contains(option)) {
      session.addAll(List.of(option, value));
    }
  }

  @SuppressWarnings("AnnotateFormatMethod") // its annotation is not on the class path
  private static void check(boolean isLegal, String problem, Object... values) {
    if (!isLegal) {
      throw new IllegalArgumentException(problem.formatted(values));
    }
  }

  private static void checkNumber(String option, String value, int min, int max) {
    int number = value.matches("[1-9]\\d{0,8}") ? Integer.parseInt(value) : 0;
    boolean isLegal = number >= min && number <= max;
    check(isLegal, "%s: \"%s\" is not a number in [%d, %d]", option, value, min, max);
  }

  private static void checkInput(String option, String value) throws IOException {
    Path file = Path.of(value);
    boolean isFile = Files.isRegularFile(file) && Files.isReadable(file);
    check(isFile, "%s: \"%s\" is not a file that can be read", option, value);
    boolean isNotebook = Files.readString(file).contains("\"nbformat\"");
    check(isNotebook, "%s: \"%s\" is not a notebook of Jupyter (.ipynb)", option, value);
  }

  private static void checkOutput(String value) {
    Path file = Path.of(value).toAbsolutePath();
    boolean hasFolder = !value.isEmpty() && Files.isDirectory(file.getParent());
    check(hasFolder, "--output: the folder of \"%s\" does not exist", value);
    check(!Files.isDirectory(file), "--output: \"%s\" is a folder: name a file in it", value);
    check(value.endsWith(".ipynb"), "--output: the name \"%s\" does not end with .ipynb", value);
    boolean isWritable = Files.isWritable(Files.exists(file) ? file : file.getParent());
    check(isWritable, "--output: \"%s\" cannot be written", value);
  }

  /** Describes the kernel; executes the notebook if there is one. Returns the exit status. */
  private int start() throws IOException, InterruptedException {
    Files.createDirectories(folder.resolve("executed"));
    deleteOldFiles(Files.createDirectories(folder.resolve("logs")).toFile());
    List<String> kernel = new ArrayList<>();
    kernel.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    kernel.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    if (values.getOrDefault("--master", "").startsWith("local[")) {
      kernel.remove("-XX:TieredStopAtLevel=1"); // the driver itself computes
    }
    kernel.add("-D%s=%s".formatted(NotebookOptions.EXECUTES, values.containsKey("--execute")));
    kernel.addAll(
        List.of(
            "-cp",
            System.getProperty("java.class.path"),
            "org.ddstore.notebook.kernel.KernelMain"));
    kernel.addAll(List.of(folder.resolve("logs").toString(), "{connection_file}"));
    kernel.addAll(session);
    new ObjectMapper()
        .writeValue(
            Files.createDirectories(run.resolve("kernels/ddstore")).resolve("kernel.json").toFile(),
            Map.of(
                "display_name", "Java (DDStore)",
                "language", "java",
                "interrupt_mode", "message",
                "env", isLocal() ? Map.of("SPARK_LOCAL_IP", "127.0.0.1") : Map.of(),
                "argv", kernel));
    return values.containsKey("--execute") ? execute() : serve();
  }

  private boolean isLocal() {
    return values.getOrDefault("--master", "local").startsWith("local");
  }

  /** Deletes old logs, and folders of ended runs, whose names end with the id of their process. */
  private void deleteOldFiles(File logs) throws IOException {
    Date oldest = Date.from(Instant.now().minus(MAX_LOG_DAYS, ChronoUnit.DAYS));
    FileUtils.listFiles(logs, new AgeFileFilter(oldest), null).forEach(FileUtils::deleteQuietly);
    for (String name : folder.toFile().list()) {
      if (name.matches("run-\\d+")
          && ProcessHandle.of(Long.parseLong(name.substring(4))).isEmpty()) {
        FileUtils.deleteDirectory(folder.resolve(name).toFile());
      }
    }
  }

  private Map<String, String> environment() {
    return Map.of(
        "JUPYTER_PATH", run.toString(),
        "JUPYTER_RUNTIME_DIR", run.resolve("runtime").toString(),
        "JUPYTER_DATA_DIR", folder.resolve("data").toString(),
        "JUPYTER_CONFIG_DIR", folder.resolve("config").toString(),
        "IPYTHONDIR", folder.resolve("ipython").toString());
  }

  private int serve() throws IOException {
    List<String> lines = new ArrayList<>();
    environment().forEach((name, value) -> lines.add("export " + name + "=" + quoted(value)));
    try {
      notebooks.update().forEach(System.err::println);
    } catch (IOException e) {
      System.err.printf(
          "ddstore: notebook: cannot write your notebooks to %s (%s): set XDG_DATA_HOME to a folder"
              + " that can be written%n",
          notebooks.folder(), e);
      return 1;
    }
    Path file = opened == null ? null : notebooks.find(opened).toRealPath();
    Path shown = notebooks.folder().toRealPath();
    if (file != null && !file.startsWith(shown)) {
      shown = file.getParent();
    }
    lines.add("cd -- " + quoted(shown.toString()));
    // Spark needs seconds to end its executors and to delete their files.
    String command =
        "exec jupyter-notebook --no-browser --ip=127.0.0.1 --KernelManager.shutdown_wait_time=60"
            + " --MultiKernelManager.default_kernel_name=ddstore"
            + " --KernelSpecManager.allowed_kernelspecs=ddstore"; // others have no Spark
    String port = values.get("--port");
    lines.add(
        command
            + (file == null ? "" : defaultPage(shown, file))
            + (port == null ? "" : " --port=%s --port-retries=0".formatted(port))
            + (System.getProperty("user.name").equals("root") ? " --allow-root" : ""));
    Files.write(run.resolve("serve"), lines);
    return 0;
  }

  /** Returns options by which the address of Jupyter 6, and of later ones, leads to a notebook. */
  private static String defaultPage(Path shown, Path file) {
    String name = shown.toUri().relativize(file.toUri()).toASCIIString();
    String page = quoted("/notebooks/" + name);
    return " --NotebookApp.default_url=%1$s --JupyterNotebookApp.default_url=%1$s".formatted(page);
  }

  private static String quoted(String text) {
    return "'" + text.replace("'", "'\\''") + "'";
  }

  private int execute() throws IOException, InterruptedException {
    Path notebook = Path.of(values.get("--execute")).toRealPath();
    Path byDefault = folder.resolve("executed").resolve(notebook.getFileName());
    Path output = Path.of(values.getOrDefault("--output", byDefault.toString())).toAbsolutePath();
    List<String> command =
        new ArrayList<>(List.of("jupyter-nbconvert", "--to", "notebook", "--execute"));
    command.add("--KernelManager.shutdown_wait_time=60");
    Stream.of(
            "kernel_name=ddstore",
            "startup_timeout=300",
            "shutdown_kernel=graceful",
            "record_timing=False")
        .forEach(option -> command.add("--ExecutePreprocessor." + option));
    command.addAll(List.of("--output", output.toString(), notebook.toString()));
    Path log = run.resolve("nbconvert.log");
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().putAll(environment());
    int status = builder.redirectErrorStream(true).redirectOutput(log.toFile()).start().waitFor();
    if (status == 0) {
      System.err.println("executed: " + output);
    } else {
      System.err.println(problem(Files.readString(log)));
      System.err.printf("ddstore: notebook: %s failed%n", notebook);
    }
    FileUtils.deleteDirectory(run.toFile());
    return status == 0 ? 0 : 1;
  }

  /** Returns the error of the cell, and not the Python code that reports it. */
  private static String problem(String log) {
    int error = log.indexOf("CellExecutionError: ");
    // If the kernel has ended, its own messages name its log.
    return error < 0
        ? log.replaceAll("(?m)^(?!ddstore: )(?!.*\\z).*\\n", "").strip()
        : log.substring(log.lastIndexOf('\n', error) + 1).replaceAll("\\n\\s*\\n+", "\n").strip();
  }
}
