// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.peers;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.ddstore.benchmarks.driver.JavaCommand;
import org.ddstore.types.DDStoreException;

/**
 * The programs of this checkout that read rows, in the order of a report: a store in four ways,
 * NumPy and PyTorch of the distribution, and peers with an environment of their own.
 */
public enum KnownPeer {
  DDSTORE("ddstore", "read_ddstore.py", 0),
  DDSTORE_PORTS("ddstore-ports", "read_ddstore.py", 0),
  JAVA("ddstore-java", null, 0),
  JAVA_PORTS("ddstore-java-ports", null, 0),
  TAKE("numpy.take", "read_take.py", 0),
  MEMMAP("memmap", "read_memmap.py", 0),
  TENSORS("tensors", "read_tensors.py", 0),
  DATASETS("datasets", "read_datasets.py", 10),
  LANCE("lance", "read_lance.py", 10),
  STREAMING("streaming", "read_streaming.py", 10),
  WEBDATASET("webdataset", "read_webdataset.py", 10),
  ANNBATCH("annbatch", "read_annbatch.py", 12);

  private static final String LIBRARY = "DDSTORE_READER_LIBRARY";

  private final String way;
  private final String program;
  private final int leastMinor; // 0 if it needs no environment

  KnownPeer(String way, String program, int leastMinor) {
    this.way = way;
    this.program = program;
    this.leastMinor = leastMinor;
  }

  /** Returns the name in a report. */
  public String way() {
    return way;
  }

  /** Returns whether this reads a store. */
  public boolean isOurs() {
    return PeerReport.isOurs(way);
  }

  boolean isOverPorts() {
    return this == DDSTORE_PORTS || this == JAVA_PORTS;
  }

  /** The distribution's, which has NumPy and PyTorch; another one may come first on the path. */
  public static String defaultInterpreter() {
    return Files.isExecutable(Path.of("/usr/bin/python3")) ? "/usr/bin/python3" : "python3";
  }

  /** Returns the folder of the checkout that the benchmarks were built in. */
  public static Path checkout() {
    URI classes =
        URI.create(KnownPeer.class.getProtectionDomain().getCodeSource().getLocation().toString());
    return Path.of(classes).resolve("../../..").normalize(); // of benchmarks/target/*.jar
  }

  /** Returns the environment of this, empty if it needs none. */
  Optional<PeerEnvironment> environment() {
    return leastMinor == 0
        ? Optional.empty()
        : Optional.of(
            new PeerEnvironment(
                way,
                checkout().resolve("benchmarks/src/main/peers/%s.lock".formatted(way)),
                leastMinor,
                this != ANNBATCH));
  }

  /**
   * Installs what this needs, unless it is there. Blocks for at most some minutes.
   *
   * @throws DDStoreException if it cannot be installed
   */
  public void install() throws IOException {
    Optional<PeerEnvironment> environment = environment();
    if (environment.isPresent()) {
      environment.get().install();
    }
  }

  /** Returns whether this can be started; programs of the distribution say so themselves. */
  public boolean isInstalled() throws IOException {
    Optional<PeerEnvironment> environment = environment();
    return environment.isEmpty() || environment.get().isInstalled();
  }

  /**
   * @param interpreter Python of programs without an environment
   */
  List<String> command(String interpreter) throws IOException {
    if (program == null) {
      return JavaCommand.of(StoreReads.class);
    }
    Optional<PeerEnvironment> environment = environment();
    List<String> command = new ArrayList<>();
    command.add(environment.isPresent() ? environment.get().python().toString() : interpreter);
    command.add("-B"); // no files in the checkout
    command.add(checkout().resolve("benchmarks/src/main/python/peers/" + program).toString());
    return command;
  }

  /**
   * Returns variables of the environment.
   *
   * @throws DDStoreException if the C library for readers was not built
   */
  public Map<String, String> variables() {
    if (!isOurs() || program == null) {
      return Map.of();
    }
    String named = System.getenv(LIBRARY);
    Path library =
        named == null
            ? checkout().resolve("native/target/c/libddstore_reader.so.1")
            : Path.of(named);
    if (!Files.exists(library)) {
      throw new DDStoreException(
          "it needs libddstore_reader, and %s is missing: install libjansson-dev and libsodium-dev, and build again, or set %s"
              .formatted(library, LIBRARY));
    }
    return Map.of(
        LIBRARY, library.toString(), "PYTHONPATH", checkout().resolve("python/src").toString());
  }
}
