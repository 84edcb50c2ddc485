// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.platform.engine.TestTag;

class SlowTestFilterTest {
  private static final String NAME = "org.ddstore.SomeTest";

  @ParameterizedTest
  @CsvSource({
    "true,   true,  true, true,  true",
    "A,      true,  true, true,  false",
    "B,      true,  true, false, true",
    "only-A, false, false, true, false",
    "only-B, false, false, false, true"
  })
  void selectsOneHalfOfTheSlowTests(
      String selection, boolean fast, boolean always, boolean ofHalfA, boolean ofHalfB) {
    String nameOfA = nameOf("A");
    String nameOfB = nameOf("B");

    assertThat(isSelected(selection, nameOfA)).as("fast").isEqualTo(fast);
    assertThat(isSelected(selection, nameOfA, "slow", "always")).as("always").isEqualTo(always);
    assertThat(isSelected(selection, nameOfA, "slow")).as("half A").isEqualTo(ofHalfA);
    assertThat(isSelected(selection, nameOfB, "slow")).as("half B").isEqualTo(ofHalfB);
  }

  private static String nameOf(String half) {
    return IntStream.range(0, 1000)
        .mapToObj(i -> NAME + i)
        .filter(name -> SlowTestFilter.half(name).equals(half))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void nestedClassesBelongToTheHalfOfTheirOutermostClass() {
    assertThat(
            Stream.of("$Writes", "$Reads", "$Writes$Late").map(n -> SlowTestFilter.half(NAME + n)))
        .containsOnly(SlowTestFilter.half(NAME));
  }

  @Test
  void rejectsAnotherSelection() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new SlowTestFilter("C"))
        .withMessage("ddstore.slow: \"C\", legal: true, A, B, only-A, only-B");
  }

  private static boolean isSelected(String selection, String className, String... tags) {
    Set<TestTag> set = Stream.of(tags).map(TestTag::create).collect(Collectors.toSet());
    return new SlowTestFilter(selection).isSelected(set, className);
  }
}
