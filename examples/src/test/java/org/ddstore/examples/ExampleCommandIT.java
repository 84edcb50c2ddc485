// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The arguments of {@code ./ddstore example}, before those of an example. */
@Tag("system")
class ExampleCommandIT {
  private static final String NAMES = "train, vae, graph, sparse, readme";

  @TempDir private Path directory;

  private Program run(String... arguments) throws Exception {
    String[] command = new String[arguments.length + 2];
    command[0] = Path.of(System.getProperty("ddstore.root"), "ddstore").toString();
    command[1] = "example";
    System.arraycopy(arguments, 0, command, 2, arguments.length);
    return Program.run(directory, new ProcessBuilder(command).directory(directory.toFile()));
  }

  @Test
  void refusesIllegalNames() throws Exception {
    Program unknown = run("test");
    assertThat(unknown.exitCode()).isEqualTo(2);
    assertThat(unknown.err())
        .isEqualTo(
            "ddstore: example: unknown example \"test\", legal: %s\nSee ./ddstore example --help\n"
                .formatted(NAMES));

    Program missing = run();
    assertThat(missing.exitCode()).isEqualTo(2);
    assertThat(missing.err()).contains("the name of the example is missing, legal: " + NAMES);
  }

  @Test
  void printsHelp() throws Exception {
    assertThat(run("--help").assertSuccess().out())
        .startsWith("Usage: ddstore example train|vae|graph|sparse|readme [ARGS]");
  }
}
