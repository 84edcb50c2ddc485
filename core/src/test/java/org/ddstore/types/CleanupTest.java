// SPDX-License-Identifier: Apache-2.0
package org.ddstore.types;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class CleanupTest {
  @Test
  void runsAllStepsAndThrowsTheFirstFailure() {
    List<String> closed = new ArrayList<>();
    AssertionError error = new AssertionError("an error");
    IllegalStateException exception = new IllegalStateException("an exception");
    assertThatThrownBy(
            () ->
                Cleanup.runAll(
                    Stream.of(
                        () -> closed.add("newest"),
                        () -> {
                          throw error;
                        },
                        () -> {
                          throw exception;
                        },
                        () -> closed.add("oldest"))))
        .isSameAs(error)
        .hasSuppressedException(exception);
    assertThat(closed).containsExactly("newest", "oldest");
  }
}
