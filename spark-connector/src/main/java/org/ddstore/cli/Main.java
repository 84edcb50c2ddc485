package org.ddstore.cli;

import java.util.Objects;
import org.apache.spark.sql.AnalysisException;
import org.ddstore.DDStoreException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;

/** Entry point of {@code ./ddstore}; every command is a subcommand class of its own. */
@Command(
    name = "ddstore",
    description = "Rows of a DataFrame in the memory of the executors, read by global index.",
    mixinStandardHelpOptions = true,
    versionProvider = Main.JarVersion.class,
    subcommands = {
      DemoCommand.class,
      GetCommand.class,
      ExplainCommand.class,
      DoctorCommand.class,
      BenchCommand.class,
      HelpCommand.class
    },
    footerHeading = "%nFrom a source checkout also:%n",
    footer = {
      "  test [--quick]  Build, check and run all tests; --quick: unit tests only.",
      "  jmh [ARGS]      Run the JMH benchmarks.",
      "  format          Apply the project's formatting to the sources."
    })
public final class Main implements Runnable {

  @Spec private CommandSpec spec;

  public static void main(String[] args) {
    System.exit(commandLine().execute(args));
  }

  static CommandLine commandLine() {
    return new CommandLine(new Main())
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExecutionExceptionHandler(Main::report);
  }

  /** The message alone: a stack helps who looks for a defect, and who does so asks for it. */
  private static int report(Exception failure, CommandLine command, ParseResult arguments) {
    boolean isKnown =
        failure instanceof DDStoreException
            || failure instanceof IllegalArgumentException
            || failure instanceof AnalysisException;
    String message = Objects.requireNonNullElse(failure.getMessage(), "no message").strip();
    command
        .getErr()
        .println(
            "ddstore: "
                + (isKnown ? "" : failure.getClass().getSimpleName() + ": ")
                + (isKnown ? message : message.lines().findFirst().orElse("")));
    if (arguments.hasMatchedOption(Output.VERBOSE)) {
      failure.printStackTrace(command.getErr());
    } else if (!isKnown) {
      command.getErr().println("ddstore: %s shows where it comes from".formatted(Output.VERBOSE));
    }
    return CommandLine.ExitCode.SOFTWARE;
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "Missing command");
  }

  /**
   * Reads the version from the manifest of the jar, so that it is written down once, in the pom.
   */
  static final class JarVersion implements IVersionProvider {
    @Override
    public String[] getVersion() {
      String version = Main.class.getPackage().getImplementationVersion();
      return new String[] {"ddstore " + (version == null ? "(not from a jar)" : version)};
    }
  }
}
