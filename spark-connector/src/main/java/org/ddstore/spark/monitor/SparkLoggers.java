// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.monitor;

import java.text.MessageFormat;
import java.util.ResourceBundle;
import org.ddstore.types.LoggerProvider;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.helpers.NOPLoggerFactory;

/** The loggers of core and native in Spark: those of SLF4J, as of all classes of the connector. */
public final class SparkLoggers implements LoggerProvider {
  /** Fails if SLF4J logs nowhere; the loggers of the JDK are used then. */
  public SparkLoggers() {
    if (LoggerFactory.getILoggerFactory() instanceof NOPLoggerFactory) {
      throw new IllegalStateException("SLF4J has no provider");
    }
  }

  @Override
  public System.Logger logger(String name) {
    return new Slf4jLogger(LoggerFactory.getLogger(name));
  }

  private record Slf4jLogger(Logger target) implements System.Logger {
    @Override
    public String getName() {
      return target.getName();
    }

    @Override
    public boolean isLoggable(Level level) {
      return level != Level.OFF && target.isEnabledForLevel(slf4j(level));
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String message, Throwable thrown) {
      if (isLoggable(level)) {
        target.atLevel(slf4j(level)).setCause(thrown).log(message);
      }
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String format, Object... parameters) {
      boolean isPlain = parameters == null || parameters.length == 0;
      if (isLoggable(level)) {
        target
            .atLevel(slf4j(level))
            .log(isPlain ? format : MessageFormat.format(format, parameters));
      }
    }

    private static org.slf4j.event.Level slf4j(Level level) {
      return switch (level) {
        case ALL, TRACE -> org.slf4j.event.Level.TRACE;
        case DEBUG -> org.slf4j.event.Level.DEBUG;
        case INFO -> org.slf4j.event.Level.INFO;
        case WARNING -> org.slf4j.event.Level.WARN;
        case ERROR, OFF -> org.slf4j.event.Level.ERROR;
      };
    }
  }
}
