// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The kernel for Python, whose environment has PySpark, PyTorch and this package.
 *
 * @param root root of the checkout
 * @param environment folder of the Python environment
 * @param options options of the Spark application
 */
record PythonKernel(Path root, Path environment, NotebookOptions options) {
  /** The name that notebooks in Python have by default, so that any of them opens with it. */
  static final String NAME = "python3";

  /** Returns a program of the environment. */
  String program(String name) {
    return environment.resolve("bin").resolve(name).toString();
  }

  /**
   * Returns the description for Jupyter.
   *
   * @param logs folder of logs
   */
  Map<String, Object> spec(Path logs) {
    List<String> command =
        new ArrayList<>(
            List.of(
                program("python"),
                root.resolve("notebooks/src/main/python/ddstore_kernel.py").toString(),
                logs.toString()));
    settings()
        .forEach((key, value) -> command.addAll(List.of("--conf", "%s=%s".formatted(key, value))));
    command.addAll(List.of("pyspark-shell", "-f", "{connection_file}", "--log-level=ERROR"));
    Map<String, String> variables = new HashMap<>();
    variables.put("JAVA_HOME", System.getProperty("java.home"));
    variables.put("PYTHONPATH", root.resolve("python/src").toString());
    if (options.isLocal() || System.getenv("PYSPARK_PYTHON") == null) {
      variables.put("PYSPARK_PYTHON", program("python"));
    }
    variables.put("PYTHONWARNINGS", "ignore:IProgress not found"); // PyTorch imports tqdm.auto
    variables.put(
        "DDSTORE_READER_LIBRARY", root.resolve("native/target/c/libddstore_reader.so").toString());
    variables.put(
        "DDSTORE_NOTEBOOK_LOG4J",
        root.resolve("notebooks/src/main/resources/org/ddstore/notebook/kernel/log4j2.properties")
            .toString());
    if (options.isLocal()) {
      variables.put("SPARK_LOCAL_IP", "127.0.0.1");
    }
    return Map.of(
        "display_name",
        "Python (DDStore)",
        "language",
        "python",
        "env",
        variables,
        "argv",
        command);
  }

  private Map<String, String> settings() {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("spark.app.name", "ddstore notebook");
    settings.put("spark.jars", jars());
    settings.put("spark.locality.wait", "0"); // ranks handle other places
    settings.put("spark.ui.showConsoleProgress", "false");
    settings.put(
        "spark.master",
        options
            .master()
            .orElseGet(
                () ->
                    "local-cluster[%d,%d,%d]"
                        .formatted(options.executors(), options.cores(), options.memoryMb())));
    if (options.master().isEmpty()) {
      settings.put("spark.executor.memory", options.memoryMb() + "m");
      settings.put("spark.authenticate", "true");
    }
    if (options.isLocal()) {
      settings.put("spark.driver.host", "127.0.0.1");
      settings.put("spark.driver.bindAddress", "127.0.0.1");
      settings.put("spark.ui.port", "0"); // bound to SPARK_LOCAL_IP
      settings.put("spark.ui.killEnabled", "false");
      settings.put("spark.scheduler.barrier.maxConcurrentTasksCheck.interval", "1s");
    }
    settings.putAll(options.settings());
    return settings;
  }

  /** Returns the jars of DDStore that executors need: the runtime and the formats. */
  private static String jars() {
    return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
        .map(path -> Path.of(path).toAbsolutePath())
        .filter(path -> path.getFileName().toString().matches("ddstore-(spark|formats)_.*\\.jar"))
        .map(path -> path.toUri().toString())
        .collect(Collectors.joining(","));
  }
}
