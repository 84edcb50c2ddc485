package org.ddstore.cli;

import org.ddstore.spark.StoreSpec;
import org.ddstore.spark.config.TransportNames;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Options for reads between ranks, as a mixin. */
final class TransportOptions {
  @Option(
      names = "--transport",
      paramLabel = "auto|tcp|fabric|mpi",
      description =
          "Transport of rows that are not reachable through memory: tcp uses Spark's network;"
              + " fabric uses libfabric, also without RDMA hardware; mpi uses windows of Open MPI,"
              + " one rank per executor; auto (default) selects fabric with RDMA hardware, else"
              + " tcp.")
  private String transport = "auto";

  @Option(
      names = "--no-shortcut",
      description = "Also read rows of the same process and the same host over the transport.")
  private boolean noShortcut;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  /** Checks the options before anything starts. */
  void check() {
    if (!TransportNames.ALL.contains(transport)) {
      throw new ParameterException(
          command.commandLine(),
          "--transport %s: legal are %s"
              .formatted(transport, String.join(", ", TransportNames.ALL)));
    }
  }

  /** Returns the spec with these options. */
  StoreSpec on(StoreSpec spec) {
    return spec.transport(transport).shortcut(!noShortcut);
  }

  /** Returns the name of the transport, one of {@link TransportNames#ALL}. */
  String name() {
    return transport;
  }

  /** Returns whether rows are read through memory where possible. */
  boolean shortcut() {
    return !noShortcut;
  }
}
