package org.ddstore.cli;

import org.ddstore.spark.StoreSpec;
import org.ddstore.spark.config.TransportNames;
import org.ddstore.spark.job.TransportChoice;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** How ranks read each other's rows, as a mixin. */
final class TransportOptions {
  @Option(
      names = "--transport",
      paramLabel = "auto|tcp|fabric|mpi",
      description =
          "How rows are read that memory does not reach: tcp over Spark's own network, fabric by"
              + " libfabric, also without RDMA hardware, mpi by windows of Open MPI, one rank an"
              + " executor, auto for fabric with such hardware and else tcp; auto unless said.")
  private String transport = "auto";

  @Option(
      names = "--no-shortcut",
      description = "Read also the rows of the own process and the own host over the transport.")
  private boolean noShortcut;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  /** Checks what the user said, before anything is started. */
  void check() {
    if (!TransportNames.ALL.contains(transport)) {
      throw new ParameterException(
          command.commandLine(),
          "--transport %s: legal are %s"
              .formatted(transport, String.join(", ", TransportNames.ALL)));
    }
  }

  /** The spec with what was said. */
  StoreSpec on(StoreSpec spec) {
    return spec.transport(transport).shortcut(!noShortcut);
  }

  /** What was said, one of {@link TransportChoice#NAMES}. */
  String name() {
    return transport;
  }

  /** Whether memory is used where it can be. */
  boolean shortcut() {
    return !noShortcut;
  }
}
