package org.ddstore.cli;

import java.util.List;
import org.ddstore.spark.StoreSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** How ranks read each other's rows, as a mixin. */
final class TransportOptions {
  private static final List<String> TRANSPORTS = List.of("auto", "tcp");

  @Option(
      names = "--transport",
      paramLabel = "auto|tcp",
      description =
          "How rows are read that memory does not reach: tcp over Spark's own network, auto for"
              + " the best that there is; auto unless said.")
  private String transport = "auto";

  @Option(
      names = "--no-shortcut",
      description = "Read also the rows of the own process and the own host over the transport.")
  private boolean noShortcut;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  /** Checks what the user said, before anything is started. */
  void check() {
    if (!TRANSPORTS.contains(transport)) {
      throw new ParameterException(
          command.commandLine(),
          "--transport %s: legal are %s".formatted(transport, String.join(", ", TRANSPORTS)));
    }
  }

  /** The spec with what was said. */
  StoreSpec on(StoreSpec spec) {
    return spec.transport(transport).shortcut(!noShortcut);
  }

  /** Whether memory is used where it can be. */
  boolean shortcut() {
    return !noShortcut;
  }
}
