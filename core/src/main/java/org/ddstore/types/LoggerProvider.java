// SPDX-License-Identifier: Apache-2.0
package org.ddstore.types;

/** A source of loggers, found by the {@link java.util.ServiceLoader}. */
@Internal
@FunctionalInterface
public interface LoggerProvider {
  /**
   * {@return a logger}
   *
   * @param name name of a class
   */
  System.Logger logger(String name);
}
