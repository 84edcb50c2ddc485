// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

/** A parser of untrusted bytes, as fuzz tests call it: a documented exception is a legal result. */
public final class Untrusted {
  private Untrusted() {}

  /**
   * Calls a parser.
   *
   * @param legal classes of the exceptions that the parser documents
   * @return the result, or nothing if the parser refuses the bytes
   * @throws AssertionError if it throws another exception
   */
  @SafeVarargs
  public static <T> Optional<T> parse(Callable<T> parser, Class<? extends Exception>... legal) {
    try {
      return Optional.ofNullable(parser.call());
    } catch (Exception e) {
      if (Stream.of(legal).noneMatch(each -> each.isInstance(e))) {
        throw new AssertionError("undocumented " + e, e);
      }
      return Optional.empty();
    }
  }
}
