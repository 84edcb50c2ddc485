// SPDX-License-Identifier: Apache-2.0
package org.ddstore.build;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The command {@code ./ddstore docs}: the pages and the Javadoc as a static site, by mkdocs in a
 * Python environment below the user's cache. One file that uses the JDK only, because {@code java}
 * runs it before anything is compiled.
 */
public final class DocsCommand {
  private static final String HELP =
      """
      Usage: ddstore docs [--output DIR]
      Builds the documentation and the Javadoc as a static site, checks its links, and prints the path of its first page.
        --output DIR   folder of the site, target/docs-site by default; it must be empty or have a former site""";

  /** The exit status if there is no Python: the launcher then installs it and tries again. */
  private static final int NO_PYTHON = 3;

  private static final String ENVIRONMENT = "--environment";

  private static final String USABLE =
      "import ensurepip, sys, venv; assert sys.version_info >= (3, 9)";

  private DocsCommand() {}

  /** Runs the command with the root of the checkout and its arguments. */
  public static void main(String[] all) throws InterruptedException {
    List<String> arguments = List.of(all).subList(1, all.length);
    if (arguments.contains("--help") || arguments.contains("-h")) {
      System.out.println(HELP);
      return;
    }
    Path root = Path.of(all[0]);
    int status;
    try {
      status =
          arguments.contains(ENVIRONMENT) // for the launcher
              ? environment(Path.of(arguments.get(1)))
              : build(root, output(root, arguments));
    } catch (IllegalArgumentException e) {
      System.err.printf("ddstore: docs: %s%nSee ./ddstore docs --help%n", e.getMessage());
      status = 2;
    } catch (IllegalStateException | IOException e) {
      String command = arguments.contains(ENVIRONMENT) ? "notebook" : "docs";
      String problem = e instanceof IOException ? e.toString() : e.getMessage();
      System.err.printf("ddstore: %s: %s%n", command, problem);
      status = 1;
    }
    System.exit(status);
  }

  private static Path output(Path root, List<String> arguments) throws IOException {
    Path standard = root.resolve("target/docs-site");
    String output = standard.toString();
    for (int i = 0; i < arguments.size(); i++) {
      String argument = arguments.get(i);
      if (argument.equals("--output")) {
        i++;
        output = i < arguments.size() ? arguments.get(i) : "";
      } else if (argument.startsWith("--output=")) {
        output = argument.substring("--output=".length());
      } else {
        throw new IllegalArgumentException(
            "unknown argument \"%s\", legal: --output".formatted(argument));
      }
    }
    if (output.isEmpty()) {
      throw new IllegalArgumentException("--output needs a folder");
    }
    Path folder = Path.of(output).toAbsolutePath().normalize();
    if (!Files.exists(folder) || folder.equals(standard)) {
      return folder;
    }
    if (!Files.isDirectory(folder)) {
      throw new IllegalArgumentException("--output: \"%s\" is not a folder".formatted(output));
    }
    try (Stream<Path> files = Files.list(folder)) {
      boolean isSite =
          Stream.of("assets/mermaid.min.js", "javadoc")
              .map(folder::resolve)
              .anyMatch(Files::exists);
      if (files.findAny().isPresent() && !isSite) {
        throw new IllegalArgumentException(
            "--output: \"%s\" has other files: name an empty folder or a former site"
                .formatted(output));
      }
    }
    return folder;
  }

  private static int build(Path root, Path output) throws IOException, InterruptedException {
    Optional<String> python = findPython();
    if (python.isEmpty()) {
      return NO_PYTHON;
    }
    Path environment = environment(python.get(), root.resolve("docs/requirements.lock"), List.of());
    // Builds the jars: Javadoc reads their types, those of Spark and of the libraries of formats.
    ProcessBuilder build = new ProcessBuilder(root.resolve("ddstore").toString(), "--version");
    if (run(build) != 0) {
      return 1;
    }
    String runtime = "spark-connector/target/ddstore-spark_2.13-%s.jar".formatted(version(root));
    String path =
        Stream.of(runtime, "cli/target/lib/*", "target/spark-home/jars/*")
            .map(jars -> root + "/" + jars)
            .reduce((a, b) -> a + ":" + b)
            .orElseThrow();
    ProcessBuilder mkdocs =
        new ProcessBuilder(
            environment.resolve("bin/python").toString(),
            "-m",
            "mkdocs",
            "build",
            "--site-dir",
            output.toString());
    mkdocs.environment().put("DDSTORE_CLASS_PATH", path);
    mkdocs.environment().put("NO_MKDOCS_2_WARNING", "1");
    if (run(mkdocs.directory(root.toFile())) != 0) {
      throw new IllegalStateException("the site has not been built, see above");
    }
    System.out.println(output.resolve("index.html"));
    return 0;
  }

  /** Prints the folder of the environment of a lock file, beside the packages of the system. */
  private static int environment(Path lock) throws IOException, InterruptedException {
    Optional<String> python = findPython();
    if (python.isEmpty()) {
      return NO_PYTHON;
    }
    System.out.println(environment(python.get(), lock, List.of("--system-site-packages")));
    return 0;
  }

  private static Optional<String> findPython() throws InterruptedException {
    for (String python : List.of("/usr/bin/python3", "python3")) {
      try {
        if (quiet(python, "-c", USABLE).start().waitFor() == 0) {
          return Optional.of(python);
        }
      } catch (IOException e) {
        // Not installed.
      }
    }
    return Optional.empty();
  }

  /**
   * Returns the folder of a Python environment with the packages of a lock file, below the user's
   * cache. Installs it first if there is none. Blocks.
   *
   * @param options options of {@code python -m venv}
   * @throws IllegalStateException if the packages cannot be installed
   */
  public static Path environment(String python, Path lock, List<String> options)
      throws IOException, InterruptedException {
    Path cache =
        Path.of(
            Objects.requireNonNullElse(
                System.getenv("XDG_CACHE_HOME"), System.getProperty("user.home") + "/.cache"));
    Process version = new ProcessBuilder(python, "-VV").start();
    byte[] name = version.getInputStream().readAllBytes();
    String id =
        sha256(name, Files.readAllBytes(lock), options.toString().getBytes(UTF_8)).substring(0, 16);
    Path folder = cache.resolve("ddstore").resolve("python-" + id);
    Files.createDirectories(folder.getParent());
    try (FileChannel channel =
        FileChannel.open(
            folder.resolveSibling(folder.getFileName() + ".lock"),
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE)) {
      channel.lock(); // closed with the channel
      if (!Files.exists(folder.resolve("complete"))) {
        System.err.printf("installing the Python packages of %s in %s%n", lock, folder);
        List<String> pip =
            List.of("-m", "pip", "install", "-q", "--no-deps", "--disable-pip-version-check");
        ProcessBuilder install = new ProcessBuilder(folder.resolve("bin/python").toString());
        install.command().addAll(pip);
        install.command().addAll(List.of("--require-hashes", "-r", lock.toString()));
        ProcessBuilder create = new ProcessBuilder(python, "-m", "venv", "--clear");
        create.command().addAll(options);
        create.command().add(folder.toString());
        if (run(create) != 0 || run(install) != 0) {
          throw new IllegalStateException(
              "needs the Python packages of %s, which cannot be installed".formatted(lock));
        }
        Files.createFile(folder.resolve("complete"));
      }
    }
    return folder;
  }

  private static String sha256(byte[]... parts) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      for (byte[] part : parts) {
        digest.update(part);
      }
      return HexFormat.of().formatHex(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String version(Path root) throws IOException {
    Matcher version =
        Pattern.compile("(?m)^  <version>(.*)</version>$")
            .matcher(Files.readString(root.resolve("pom.xml"), UTF_8));
    if (!version.find()) {
      throw new IllegalStateException("no version in pom.xml");
    }
    return version.group(1);
  }

  private static ProcessBuilder quiet(String... command) {
    return new ProcessBuilder(command)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .redirectError(ProcessBuilder.Redirect.DISCARD);
  }

  /** Runs a command; its output comes on stderr, so that stdout has the path of the site only. */
  private static int run(ProcessBuilder command) throws IOException, InterruptedException {
    Process process = command.redirectError(ProcessBuilder.Redirect.INHERIT).start();
    process.getInputStream().transferTo(System.err);
    return process.waitFor();
  }
}
