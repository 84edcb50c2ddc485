package org.ddstore.spark.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TaskLoadersTest {
  @Test
  void allAreClosedWhateverFailsAndTheFirstFailureIsThrown() {
    List<String> closed = new ArrayList<>();
    AssertionError error = new AssertionError("an error");
    IllegalStateException exception = new IllegalStateException("an exception");
    assertThatThrownBy(
            () ->
                TaskLoaders.runAll(
                    List.of(
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

  @Test
  void noneIsOpenedWhenTheTaskHasEnded() {
    TaskLoaders loaders = new TaskLoaders();
    loaders.closeAll();
    loaders.closeAll();
    assertThatThrownBy(() -> loaders.open(() -> null))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("closed: the task that would own the loader has ended");
  }
}
