// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.util.List;
import java.util.Objects;
import java.util.ServiceLoader;
import org.ddstore.local.Interruption;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The entry point of {@code ./ddstore}; each command is a separate class. */
@Command(
    name = "ddstore",
    description = "Keeps rows of a DataFrame in executor memory and reads them by global index.",
    mixinStandardHelpOptions = true,
    versionProvider = Main.JarVersion.class,
    subcommands = {
      DemoCommand.class,
      GetCommand.class,
      ExplainCommand.class,
      ServeCommand.class,
      DoctorCommand.class
    },
    footerHeading = "%nOnly from a source checkout:%n",
    footer = {
      "  test [OPTION]   Build, check and run the tests; --quick: only unit tests.",
      "  example train   Train a small network on the demo's images.",
      "  example graph   Train a network on graphs, in batches of similar cost.",
      "  example sparse  Train a network on sparse rows, with balanced classes.",
      "  example vae     Train a variational autoencoder on images of digits.",
      "  example readme  Read rows of other ranks started by mpirun, without Spark.",
      "  notebook [FILE] Start Jupyter for notebooks in Java.",
      "  jmh [ARGS]      Run the JMH benchmarks.",
      "  docs            Build the documentation as a site, and check its links.",
      "  api [REF]       Report how the public API differs from that of a commit.",
      "  format          Apply the project's formatting to the sources."
    })
public final class Main implements Runnable {
  /** The commands that {@code ./ddstore} runs without this class. */
  static final List<String> LAUNCHER_COMMANDS =
      List.of("test", "example", "notebook", "jmh", "docs", "api", "format");

  @Spec private CommandSpec spec;

  public static void main(String[] args) {
    Interruption.exitAfter(() -> run(args));
  }

  /** Runs a command; prints what to add to spark-submit if the connector is missing. */
  static int run(String... args) {
    try {
      return commandLine().execute(args);
    } catch (NoClassDefFoundError e) {
      String missing = Objects.requireNonNullElse(e.getMessage(), "");
      if (!missing.startsWith("org/ddstore/")) {
        throw e;
      }
      System.err.printf(
          "ddstore: class %s is missing: pass the runtime jar to spark-submit, --jars"
              + " .../ddstore-spark_2.13-%s.jar%n",
          missing.replace('/', '.'),
          Objects.requireNonNullElse(
              Main.class.getPackage().getImplementationVersion(), "<version>"));
      return CommandLine.ExitCode.SOFTWARE;
    }
  }

  /** Returns the parser of all commands, those of other jars on the class path included. */
  static CommandLine commandLine() {
    CommandLine commands = new CommandLine(new Main());
    ServiceLoader.load(CommandExtension.class, Main.class.getClassLoader())
        .forEach(commands::addSubcommand);
    return commands
        .addSubcommand(new HelpCommand())
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setParameterExceptionHandler(ErrorReport::printUsage)
        .setExecutionExceptionHandler(ErrorReport::print);
  }

  @Override
  public void run() {
    spec.commandLine().usage(spec.commandLine().getOut());
  }

  /**
   * A version provider that reads the manifest of the jar, so that only the pom states the version.
   */
  static final class JarVersion implements IVersionProvider {
    @Override
    public String[] getVersion() {
      String version = Main.class.getPackage().getImplementationVersion();
      return new String[] {"ddstore " + (version == null ? "(not from a jar)" : version)};
    }
  }
}
