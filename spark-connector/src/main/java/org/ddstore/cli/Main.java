package org.ddstore.cli;

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
    subcommands = {DoctorCommand.class, HelpCommand.class},
    footerHeading = "%nFrom a source checkout also:%n",
    footer = {
      "  test [--quick]  Build, check and run all tests; --quick: unit tests only.",
      "  format          Apply the project's formatting to the sources."
    })
public final class Main implements Runnable {

  @Spec private CommandSpec spec;

  public static void main(String[] args) {
    System.exit(commandLine().execute(args));
  }

  static CommandLine commandLine() {
    return new CommandLine(new Main()).setExecutionExceptionHandler(Main::report);
  }

  /** What a message explains in full needs no stack; all else is a defect, or Spark's. */
  private static int report(Exception failure, CommandLine command, ParseResult arguments)
      throws Exception {
    if (failure instanceof DDStoreException || failure instanceof IllegalArgumentException) {
      command.getErr().println("ddstore: " + failure.getMessage());
      return CommandLine.ExitCode.SOFTWARE;
    }
    throw failure;
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
