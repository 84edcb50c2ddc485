// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.ddstore.benchmarks.driver.ChildProcesses;
import org.ddstore.types.DDStoreException;

/**
 * The process of {@code bench_python.py}, with the Python package and the C library of the checkout
 * that the benchmarks were built in.
 *
 * @param process the process
 * @param versions versions by the name of the program or module
 * @param missing why modules cannot be imported, by their name
 */
record PythonProgram(
    ReadingProcess process, Map<String, String> versions, Map<String, String> missing) {
  private static final String LIBRARY = "DDSTORE_READER_LIBRARY";

  /** The distribution's, for which its packages are; another one may come first on the path. */
  static String defaultInterpreter() {
    return Files.isExecutable(Path.of("/usr/bin/python3")) ? "/usr/bin/python3" : "python3";
  }

  private static Path checkout() {
    URI classes =
        URI.create(
            PythonProgram.class.getProtectionDomain().getCodeSource().getLocation().toString());
    return Path.of(classes).resolve("../../..").normalize(); // of benchmarks/target/*.jar
  }

  /**
   * Returns the C library for readers.
   *
   * @throws DDStoreException if it was not built
   */
  static Path library() {
    String named = System.getenv(LIBRARY);
    Path library =
        named == null
            ? checkout().resolve("native/target/c/libddstore_reader.so.1")
            : Path.of(named);
    if (!Files.exists(library)) {
      throw new DDStoreException(
          "bench python needs libddstore_reader, and %s is missing: install libjansson-dev and libsodium-dev, and build again, or set %s"
              .formatted(library, LIBRARY));
    }
    return library;
  }

  /**
   * Starts the program and waits until it has attached.
   *
   * @param interpreter program that runs Python
   * @param handle file of the handle of the rows
   * @param sparse file of the handle of the sparse rows
   * @throws DDStoreException if the interpreter cannot be started, or lacks NumPy
   */
  static PythonProgram start(
      ChildProcesses owner, String interpreter, Path handle, Path sparse, int batchRows)
      throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(
            interpreter,
            "-B", // no files in the checkout
            checkout().resolve("benchmarks/src/main/python/bench_python.py").toString(),
            handle.toString(),
            sparse.toString(),
            Integer.toString(batchRows));
    builder.environment().put(LIBRARY, library().toString());
    builder
        .environment()
        .merge("PYTHONPATH", checkout().resolve("python/src").toString(), (a, b) -> b + ":" + a);
    ReadingProcess process;
    try {
      process = ReadingProcess.start(owner, interpreter, builder);
    } catch (IOException e) {
      throw new DDStoreException("--python %s: %s".formatted(interpreter, e.getMessage()), e);
    }
    JsonNode ready = new ObjectMapper().readTree(process.readLine());
    if (ready.has("error")) {
      throw new DDStoreException(
          "--python %s: %s: name an interpreter with NumPy, or install python3-numpy"
              .formatted(interpreter, ready.get("error").asText()));
    }
    return new PythonProgram(process, texts(ready.get("versions")), texts(ready.get("missing")));
  }

  private static Map<String, String> texts(JsonNode object) {
    Map<String, String> texts = new LinkedHashMap<>();
    object.fieldNames().forEachRemaining(name -> texts.put(name, object.get(name).asText()));
    return texts;
  }
}
