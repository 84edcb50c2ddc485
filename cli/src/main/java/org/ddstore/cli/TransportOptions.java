// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.util.Iterator;
import org.ddstore.spark.StoreSpec;
import org.ddstore.transport.TransportProviders;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Options for reads between ranks, as a mixin. */
public final class TransportOptions {
  @Option(
      names = "--transport",
      paramLabel = "NAME",
      completionCandidates = Names.class,
      description =
          "Transport of rows that are not reachable through memory: ${COMPLETION-CANDIDATES}."
              + " By default ${DEFAULT-VALUE}, the best one that all ranks can use. See"
              + " spark.ddstore.transport in docs/settings.md.")
  private String transport = TransportProviders.AUTO;

  @Option(
      names = "--no-shortcut",
      description = "Also read rows of the same process and the same host over the transport.")
  private boolean noShortcut;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  /** The legal names, for the help text. */
  static final class Names implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return TransportProviders.names().iterator();
    }
  }

  public void check() {
    if (!TransportProviders.names().contains(transport)) {
      throw new ParameterException(
          command.commandLine(),
          "--transport %s: unknown value; legal values: %s"
              .formatted(transport, String.join(", ", TransportProviders.names())));
    }
  }

  public StoreSpec on(StoreSpec spec) {
    return spec.transport(transport).shortcut(!noShortcut);
  }

  /** Returns the name of the transport, one of {@link TransportProviders#names}. */
  public String name() {
    return transport;
  }

  /** Returns whether rows are read through memory where possible. */
  public boolean shortcut() {
    return !noShortcut;
  }
}
