// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.ddstore.cli.Launcher.Outcome;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Commands of {@code ./ddstore} beside those of {@link Main}: their arguments and their help. */
@Tag("system")
class LauncherArgumentsTest {
  @TempDir private Path work;

  private Outcome run(String command) throws Exception {
    Outcome outcome = new Launcher(work).run(command.split(" "));
    // java prints that it has read the options of the launcher of tests.
    String err = outcome.err().replaceFirst("NOTE: Picked up JDK_JAVA_OPTIONS.*\n", "");
    return new Outcome(outcome.exitCode(), outcome.out(), err);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "test --all | test | unknown argument \"--all\", legal: --quick, --slow, --slow-half=A, --slow-half=B",
        "test --quick CoreTest | test | unexpected argument \"CoreTest\"",
        "format java | format | unknown argument \"java\", legal: none",
        "docs --open | docs | unknown argument \"--open\", legal: --output",
        "docs --output | docs | --output needs a folder",
        "docs --output err.txt | docs | --output: \"err.txt\" is not a folder",
        "docs --output . | docs | --output: \".\" has other files: name an empty folder or a former site",
        "api --lax | api | unknown option \"--lax\", legal: --strict",
        "api one two | api | two commits, \"one\" and \"two\": name one"
      })
  void refusesIllegalArguments(String command, String name, String problem) throws Exception {
    Outcome refused = run(command);

    assertThat(refused.err().lines())
        .containsExactly(
            "ddstore: %s: %s".formatted(name, problem), "See ./ddstore " + name + " --help");
    assertThat(refused.out()).isEmpty();
    assertThat(refused.exitCode()).isEqualTo(2);
  }
}
