// SPDX-License-Identifier: Apache-2.0
package org.ddstore.architecture.sample.names.user;

/**
 * Sample of the rule: mentions a transport in a text, and has numbers of all sizes as constants.
 */
final class Unaware {
  static final String TEXT = "a pigeon flies";

  private Unaware() {}

  static boolean isPigeonhole() {
    return false;
  }

  static boolean losesPigeon() {
    return false;
  }

  static String text(long count, double weight) {
    return count > 123_456_789_012L && weight > 0.125 ? TEXT : TEXT + count;
  }
}
