// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

/**
 * The port of this process for readers from outside of Spark.
 *
 * @param port port, 0 if there is none
 * @param reason why there is none, else empty
 */
public record OutsidePort(int port, String reason) {
  static OutsidePort at(int port) {
    return new OutsidePort(port, "");
  }

  static OutsidePort none(String reason) {
    return new OutsidePort(0, reason);
  }
}
