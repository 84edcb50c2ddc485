// SPDX-License-Identifier: Apache-2.0
package org.ddstore.types;

import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;

/**
 * The loggers of classes that work without Spark. They log where a {@link LoggerProvider} leads
 * them, by default to those of the JDK.
 */
@Internal
public final class Loggers {
  private static final LoggerProvider PROVIDER = provider();

  private Loggers() {}

  /**
   * {@return the logger of a class}
   *
   * @param type class, whose name is that of the logger
   */
  public static System.Logger of(Class<?> type) {
    return PROVIDER.logger(type.getName());
  }

  /**
   * Looks beside this class, because Spark loads the jars of an application by a loader of its own.
   */
  private static LoggerProvider provider() {
    try {
      return ServiceLoader.load(LoggerProvider.class, Loggers.class.getClassLoader())
          .findFirst()
          .orElse(System::getLogger);
    } catch (ServiceConfigurationError | LinkageError e) { // such as the runtime jar without SLF4J
      return System::getLogger;
    }
  }
}
