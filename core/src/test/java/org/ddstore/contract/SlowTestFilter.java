// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.util.Set;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.engine.TestTag;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.PostDiscoveryFilter;

/**
 * Selects slow tests by the property {@code ddstore.slow}: {@code A} and {@code B} keep those
 * tagged {@code always} and one half of the others, by a hash of the class name; {@code only-A} and
 * {@code only-B} keep that half of the others and nothing else. {@code true} keeps all tests.
 */
public final class SlowTestFilter implements PostDiscoveryFilter {
  private static final TestTag SLOW = TestTag.create("slow");
  private static final TestTag ALWAYS = TestTag.create("always");

  /**
   * Of the hash; it divides the measured seconds of the tests, and those of each module, evenly.
   */
  private static final int BIT = 4;

  private final String selection;

  /** Creates the filter that the property {@code ddstore.slow} names. */
  public SlowTestFilter() {
    this(System.getProperty("ddstore.slow", "true"));
  }

  SlowTestFilter(String selection) {
    if (!Set.of("true", "A", "B", "only-A", "only-B").contains(selection)) {
      throw new IllegalArgumentException(
          "ddstore.slow: \"%s\", legal: true, A, B, only-A, only-B".formatted(selection));
    }
    this.selection = selection;
  }

  @Override
  public FilterResult apply(TestDescriptor test) {
    return FilterResult.includedIf(
        isSelected(test.getTags(), className(test)), () -> selection, () -> selection);
  }

  boolean isSelected(Set<TestTag> tags, String className) {
    if (selection.equals("true")) {
      return true;
    }
    boolean isOfAHalf = tags.contains(SLOW) && !tags.contains(ALWAYS);
    return isOfAHalf ? selection.endsWith(half(className)) : !selection.startsWith("only");
  }

  static String half(String className) {
    String outermost = className.replaceFirst("\\$.*", "");
    String simple = outermost.substring(outermost.lastIndexOf('.') + 1);
    return (simple.hashCode() & 1 << BIT) == 0 ? "A" : "B";
  }

  private static String className(TestDescriptor test) {
    return test.getSource()
        .map(
            source ->
                source instanceof MethodSource method
                    ? method.getClassName()
                    : source instanceof ClassSource type ? type.getClassName() : "")
        .orElse("");
  }
}
