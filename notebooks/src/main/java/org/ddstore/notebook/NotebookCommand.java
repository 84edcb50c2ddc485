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
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.commons.io.FileUtils;
import org.apache.commons.io.filefilter.AgeFileFilter;

/**
 * The command {@code ./ddstore notebook}: describes the kernels to Jupyter in the folder of this
 * run, then executes a notebook, or writes a script {@code serve} by which the launcher becomes
 * Jupyter.
 */
public final class NotebookCommand {
  private static final String HELP =
      """
      Usage: ddstore notebook [NOTEBOOK] [--port N] [SESSION]
             ddstore notebook --execute FILE [--output FILE] [SESSION]
      Starts JupyterLab for notebooks in Python and Java, and prints its address, which contains a token. It listens
      on 127.0.0.1 only. Installs what is missing if it may; without Python, starts Jupyter for notebooks in Java.
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
        --torch             adds PyTorch and the examples to Java; the first run downloads 110 MB""";

  private static final String LEGAL =
      "--port, --execute, --output, --executors, --cores, --memory, --master, --conf, --torch";

  private static final int MAX_LOG_DAYS = 7;
  private static final String COLOUR = "\u001b\\[[\\d;]*m"; // of IPython
  private static final ObjectMapper JSON = new ObjectMapper();

  /** System property: the folder of the Python environment; not set if there is none. */
  private static final String PYTHON = "ddstore.notebook.python";

  private static final String JAVA_KERNEL = "ddstore";

  private final Path root;
  private final Path run;
  private final Path folder;
  private final NotebookFolder notebooks;

  /** The notebook to open, or null. */
  private String opened;

  private final Map<String, String> values = new HashMap<>();
  private final List<String> session = new ArrayList<>();

  NotebookCommand(Path root, Path run, Path data) {
    this.root = root;
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

  /** Describes the kernels; executes the notebook if there is one. Returns the exit status. */
  private int start() throws IOException, InterruptedException {
    Files.createDirectories(folder.resolve("executed"));
    Path logs = Files.createDirectories(folder.resolve("logs"));
    deleteOldFiles(logs.toFile());
    describe(JAVA_KERNEL, javaKernel(logs));
    Optional<PythonKernel> python =
        Optional.ofNullable(System.getProperty(PYTHON))
            .map(path -> new PythonKernel(root, Path.of(path), NotebookOptions.of(session)));
    if (python.isPresent()) {
      describe(PythonKernel.NAME, python.get().spec(logs));
    }
    return values.containsKey("--execute") ? execute(python) : serve(python);
  }

  private void describe(String kernel, Map<String, Object> spec) throws IOException {
    Path kernels = Files.createDirectories(run.resolve("kernels").resolve(kernel));
    JSON.writeValue(kernels.resolve("kernel.json").toFile(), spec);
  }

  private Map<String, Object> javaKernel(Path logs) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    if (values.getOrDefault("--master", "").startsWith("local[")) {
      command.remove("-XX:TieredStopAtLevel=1"); // the driver itself computes
    }
    command.add("-D%s=%s".formatted(NotebookOptions.EXECUTES, values.containsKey("--execute")));
    command.addAll(
        List.of(
            "-cp",
            System.getProperty("java.class.path"),
            "org.ddstore.notebook.kernel.KernelMain"));
    command.addAll(List.of(logs.toString(), "{connection_file}"));
    command.addAll(session);
    boolean isLocal = NotebookOptions.of(session).isLocal();
    return Map.of(
        "display_name", "Java (DDStore)",
        "language", "java",
        "interrupt_mode", "message",
        "env", isLocal ? Map.of("SPARK_LOCAL_IP", "127.0.0.1") : Map.of(),
        "argv", command);
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

  private int serve(Optional<PythonKernel> python) throws IOException {
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
    List<String> command = new ArrayList<>(List.of("exec"));
    command.add(
        python.map(kernel -> quoted(kernel.program("jupyter-lab"))).orElse("jupyter-notebook"));
    command.addAll(List.of("--no-browser", "--ip=127.0.0.1"));
    // Spark needs seconds to end its executors and to delete their files.
    command.add("--KernelManager.shutdown_wait_time=60");
    command.add("--KernelSpecManager.ensure_native_kernel=False");
    String preferred = python.isPresent() ? PythonKernel.NAME : JAVA_KERNEL;
    command.add("--MultiKernelManager.default_kernel_name=" + preferred);
    // Others have no Spark.
    command.add("--KernelSpecManager.allowed_kernelspecs=" + JAVA_KERNEL);
    if (python.isPresent()) {
      command.add("--KernelSpecManager.allowed_kernelspecs=" + PythonKernel.NAME);
      command.addAll(List.of("--log-level=WARN", "--LanguageServerManager.autodetect=False"));
      disable("@jupyterlab/apputils-extension:announcements"); // asks, and reads from the network
    }
    if (file != null) {
      command.addAll(pages(shown, file));
    }
    if (values.containsKey("--port")) {
      command.addAll(List.of("--port=" + values.get("--port"), "--port-retries=0"));
    }
    if (System.getProperty("user.name").equals("root")) {
      command.add("--allow-root");
    }
    lines.add(String.join(" ", command));
    Files.write(run.resolve("serve"), lines);
    return 0;
  }

  private void disable(String extension) throws IOException {
    Path folder = Files.createDirectories(this.folder.resolve("config/labconfig"));
    JSON.writeValue(
        folder.resolve("page_config.json").toFile(),
        Map.of("disabledExtensions", Map.of(extension, true)));
  }

  /** Returns options by which the address of JupyterLab, and of Jupyter, leads to a notebook. */
  private static List<String> pages(Path shown, Path file) {
    String name = shown.toUri().relativize(file.toUri()).toASCIIString();
    return List.of(
        "--LabApp.default_url=" + quoted("/lab/tree/" + name),
        "--NotebookApp.default_url=" + quoted("/notebooks/" + name),
        "--JupyterNotebookApp.default_url=" + quoted("/notebooks/" + name));
  }

  private static String quoted(String text) {
    return "'" + text.replace("'", "'\\''") + "'";
  }

  private int execute(Optional<PythonKernel> python) throws IOException, InterruptedException {
    Path notebook = Path.of(values.get("--execute")).toRealPath();
    Path byDefault = folder.resolve("executed").resolve(notebook.getFileName());
    Path output = Path.of(values.getOrDefault("--output", byDefault.toString())).toAbsolutePath();
    boolean isPython =
        JSON.readTree(notebook.toFile()).findValuesAsText("language").contains("python");
    if (isPython && python.isEmpty()) {
      System.err.printf("ddstore: notebook: %s is in Python, which is missing%n", notebook);
      return 1;
    }
    List<String> command = new ArrayList<>();
    command.add(
        python.map(kernel -> kernel.program("jupyter-nbconvert")).orElse("jupyter-nbconvert"));
    command.addAll(List.of("--to", "notebook", "--execute"));
    command.add("--KernelManager.shutdown_wait_time=60");
    if (python.isPresent()) { // joins pieces of outputs, and keeps the last states of progress bars
      command.add("--Exporter.preprocessors=nbconvert.preprocessors.CoalesceStreamsPreprocessor");
      command.add("--CoalesceStreamsPreprocessor.enabled=True");
    }
    Stream.of(
            "kernel_name=" + (isPython ? PythonKernel.NAME : JAVA_KERNEL),
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
      System.err.println(problem(Files.readString(log).replaceAll(COLOUR, "").strip()));
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
