// SPDX-License-Identifier: Apache-2.0
package org.ddstore.build;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SourceCommandsTest {
  private static final String PASSED =
      """
      [INFO] Running org.ddstore.OneTest
      [INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 1, Time elapsed: 2.25 s -- in org.ddstore.OneTest
      [INFO] Tests run: 4, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 12.5 s -- in org.ddstore.TwoTest
      \u001b[1;33m[WARNING] Tests run: 7, Failures: 0, Errors: 0, Skipped: 1\u001b[m
      [WARNING] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Flakes: 1
      [INFO] Tests run: 1, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 1 s -- in org.ddstore.OneTest
      """;

  private final SourceCommands.TestSummary summary = new SourceCommands.TestSummary();

  private String print(String output) {
    output.lines().forEach(summary::add);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    summary.print(new PrintStream(bytes, true, UTF_8));
    return bytes.toString(UTF_8);
  }

  @Test
  void addsTheTotalsOfModulesAndTheTimesOfClasses() {
    assertThat(print(PASSED))
        .isEqualTo(
            """

            Slowest test classes, seconds:
                12.5  org.ddstore.TwoTest
                 3.3  org.ddstore.OneTest

            All modules: Tests run: 9, Failures: 0, Errors: 0, Skipped: 1, passed when run again: 1 (2 runs of Surefire)
            """);
    assertThat(summary.isSuccess()).isTrue();
  }

  @Test
  void printsTheReasonOfAFailure() {
    String text =
        print(
            """
            [ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 2 s <<< FAILURE! -- in org.ddstore.OneTest
            [ERROR] org.ddstore.OneTest.adds(int)[2] -- Time elapsed: 0.1 s <<< FAILURE!
            java.lang.AssertionError:

            expected: 1
            \tat org.ddstore.OneTest.adds(OneTest.java:3)
            not a reason
            [ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0
            """);

    assertThat(text)
        .endsWith(
            """

            failed at least once: org.ddstore.OneTest.adds(int)[2]
                java.lang.AssertionError:
                expected: 1
            All modules: Tests run: 3, Failures: 1, Errors: 0, Skipped: 0 (1 runs of Surefire)
            """)
        .contains("     2.0  org.ddstore.OneTest");
    assertThat(summary.isSuccess()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[ERROR] There was a timeout in the fork",
        "[ERROR] There is 1 failure and 3 flakes",
        "[ERROR] Tests run: 1, Failures: 0, Errors: 1, Skipped: 0"
      })
  void failsOnAnErrorOutsideOfTests(String line) {
    print(PASSED + line);

    assertThat(summary.isSuccess()).isFalse();
  }

  @Test
  void dayOfTheCommitChoosesTheFirstHalf() {
    long noon = Duration.ofHours(12).toSeconds();

    assertThat(SourceCommands.halves(0))
        .isEqualTo(SourceCommands.halves(noon))
        .containsExactly("-Dddstore.slow=A", "-Dddstore.slow=only-B");
    assertThat(SourceCommands.halves(noon + Duration.ofDays(1).toSeconds()))
        .containsExactly("-Dddstore.slow=B", "-Dddstore.slow=only-A");
  }
}
