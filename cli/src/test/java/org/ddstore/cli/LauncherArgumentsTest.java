// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.ddstore.cli.Launcher.Outcome;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Commands of {@code ./ddstore} that are part of the script: their arguments and their help. */
@Tag("system")
class LauncherArgumentsTest {
  @TempDir private Path work;

  private Outcome run(String command) throws Exception {
    return new Launcher(work).run(command.split(" "));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "test --all | test | unknown argument \"--all\", legal: --quick",
        "test --quick CoreTest | test | unexpected argument \"CoreTest\"",
        "format java | format | unknown argument \"java\", legal: none",
        "docs --open | docs | unknown argument \"--open\", legal: --output",
        "docs --output | docs | --output needs a folder",
        "docs --output err.txt | docs | --output: \"err.txt\" is not a folder",
        "docs --output . | docs | --output: \".\" has other files: name an empty folder or a former site",
        "api --lax | api | unknown option \"--lax\", legal: --strict",
        "api one two | api | two commits, \"one\" and \"two\": name one",
        "example | example | the name of the example is missing, legal: train, vae, graph, sparse, readme",
        "example test | example | unknown example \"test\", legal: train, vae, graph, sparse, readme",
        "notebook --quiet | notebook | unknown argument \"--quiet\", legal: --port, --execute, --output, --executors, --cores, --memory, --master, --conf, --torch",
        "notebook --port | notebook | --port needs a value",
        "notebook --port 65536 | notebook | --port: \"65536\" is not a number in [1, 65535]",
        "notebook --execute none.ipynb | notebook | --execute: \"none.ipynb\" is not a file that can be read",
        "notebook --execute err.txt | notebook | --execute: \"err.txt\" is not a notebook of Jupyter (.ipynb)",
        "notebook --output . | notebook | --output: \".\" is a folder: name a file in it",
        "notebook --output out.html | notebook | --output: the name \"out.html\" does not end with .ipynb",
        "notebook --output none/out.ipynb | notebook | --output: the folder of \"none/out.ipynb\" does not exist",
        "notebook --memory 449 | notebook | --memory: \"449\" is not a number in [450, 999999999]",
        "notebook --executors 0 | notebook | --executors: \"0\" is not a number in [1, 1024]",
        "notebook --output out.ipynb | notebook | --output needs --execute",
        "notebook --conf key | notebook | --conf: \"key\" is not KEY=VALUE",
        "example readme --ranks 0 | example readme | --ranks: \"0\" is not a number in [1, 999]"
      })
  void refusesIllegalArguments(String command, String name, String problem) throws Exception {
    Outcome refused = run(command);

    assertThat(refused.err().lines())
        .containsExactly(
            "ddstore: %s: %s".formatted(name, problem), "See ./ddstore " + name + " --help");
    assertThat(refused.out()).isEmpty();
    assertThat(refused.exitCode()).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"test", "format", "docs", "api", "example", "notebook"})
  void printsHelp(String command) throws Exception {
    Outcome help = run(command + " --help");

    assertThat(help.exitCode()).as(help.err()).isZero();
    assertThat(help.out()).startsWith("Usage: ddstore " + command);
    assertThat(help.err()).isEmpty();
  }
}
