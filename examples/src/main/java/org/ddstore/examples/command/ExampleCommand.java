// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples.command;

import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.ddstore.examples.Graph;
import org.ddstore.examples.Readme;
import org.ddstore.examples.Sparse;
import org.ddstore.examples.TrainCommand;
import org.ddstore.examples.vae.VaeCommand;

/** The command {@code ./ddstore example}: runs the example that its first argument names. */
public final class ExampleCommand {
  private static final String NAMES = "train, vae, graph, sparse, readme";
  private static final String RANKS = "--ranks";

  private ExampleCommand() {}

  /** Exits with the status of the example, or with 2 if an argument is illegal. */
  public static void main(String[] arguments) throws IOException, InterruptedException {
    String name = arguments.length == 0 ? "" : arguments[0];
    String[] rest = Arrays.copyOfRange(arguments, Math.min(1, arguments.length), arguments.length);
    switch (name) {
      case "train" -> TrainCommand.main(rest);
      case "vae" -> VaeCommand.main(rest);
      case "graph" -> Graph.main(rest);
      case "sparse" -> Sparse.main(rest);
      case "readme" -> System.exit(runReadme(new ArrayList<>(List.of(rest))));
      case "-h", "--help" -> {
        System.out.println("Usage: ddstore example train|vae|graph|sparse|readme [ARGS]");
        System.out.println("Runs an example. \"ddstore example NAME --help\" lists its arguments.");
      }
      case "" -> refuse("example", "the name of the example is missing, legal: " + NAMES);
      default -> refuse("example", "unknown example \"%s\", legal: %s".formatted(name, NAMES));
    }
  }

  private static void refuse(String command, String problem) {
    System.err.printf("ddstore: %s: %s%n", command, problem);
    System.err.printf("See ./ddstore %s --help%n", command);
    System.exit(2);
  }

  /** Starts ranks by mpirun on this host, without Spark and its jars; returns the exit status. */
  private static int runReadme(List<String> arguments) throws IOException, InterruptedException {
    String ranks = "4";
    for (int i = arguments.indexOf(RANKS); i >= 0; i = arguments.indexOf(RANKS)) {
      arguments.remove(i);
      ranks = i < arguments.size() ? arguments.remove(i) : "";
      if (!ranks.matches("[1-9]\\d{0,2}")) {
        refuse("example readme", "--ranks: \"%s\" is not a number in [1, 999]".formatted(ranks));
      }
    }
    if (arguments.contains("--help") || arguments.contains("-h")) {
      Readme.main(new String[] {"--help"});
    }
    // More ranks than processors are welcome, and a JVM has threads that want them all.
    List<String> command =
        new ArrayList<>(List.of("mpirun", "--oversubscribe", "--bind-to", "none"));
    command.addAll(List.of("--mca", "oob_tcp_if_include", "lo", "-n", ranks));
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    command.remove("-XX:TieredStopAtLevel=1"); // ranks compute
    command.addAll(List.of("-cp", pathWithoutSpark(), Readme.class.getName()));
    command.addAll(arguments);
    ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
    // mpirun refuses root unless both say that this is meant, as in a container.
    builder.environment().put("OMPI_ALLOW_RUN_AS_ROOT", "1");
    builder.environment().put("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    Process mpirun;
    try {
      mpirun = builder.start();
    } catch (IOException e) {
      System.err.println(
          "ddstore: example readme: there is no mpirun: on Debian and Ubuntu apt-get install"
              + " openmpi-bin");
      return 1;
    }
    Runtime.getRuntime().addShutdownHook(new Thread(() -> end(mpirun), "end of mpirun"));
    return mpirun.waitFor();
  }

  /** Lets mpirun end its ranks if a signal ends this process. */
  private static void end(Process mpirun) {
    mpirun.destroy();
    mpirun.onExit().join();
  }

  private static String pathWithoutSpark() {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
        .filter(jar -> !jar.contains("/spark-home/") && !jar.contains("/cli/target/"))
        .collect(Collectors.joining(File.pathSeparator));
  }
}
