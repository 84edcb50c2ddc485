// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.ddstore.contract.Place;

/** This host, where a launcher or variables of the user precede each process. */
record LaunchedPlace(List<String> launcher, Map<String, String> variables) implements Place {
  @Override
  public String name() {
    return HERE.name();
  }

  @Override
  public String address() {
    return HERE.address();
  }

  @Override
  public ProcessBuilder command(List<String> command) {
    ProcessBuilder process =
        HERE.command(Stream.concat(launcher.stream(), command.stream()).toList());
    process.environment().putAll(variables);
    return process;
  }

  @Override
  public Path path(String absolute) {
    return HERE.path(absolute);
  }
}
