package org.ddstore.spark.wire;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Property;

/** Keeps what this JVM logs from now on, at level WARN and above, besides where it goes. */
final class LogTap extends AbstractAppender implements AutoCloseable {
  private final List<Line> lines = new CopyOnWriteArrayList<>();

  /**
   * @param logger the name of a class
   */
  record Line(String logger, String text) {}

  private LogTap() {
    super("tap", null, null, true, Property.EMPTY_ARRAY);
  }

  static LogTap open() {
    LogTap tap = new LogTap();
    tap.start();
    context().getConfiguration().getRootLogger().addAppender(tap, Level.WARN, null);
    return tap;
  }

  private static LoggerContext context() {
    return (LoggerContext) LogManager.getContext(false);
  }

  @Override
  public void append(LogEvent event) {
    String thrown = event.getThrown() == null ? "" : ": " + event.getThrown();
    lines.add(new Line(event.getLoggerName(), event.getMessage().getFormattedMessage() + thrown));
  }

  List<Line> lines() {
    return List.copyOf(lines);
  }

  /** What a class of ours has logged. */
  List<String> of(Class<?> logger) {
    return lines.stream()
        .filter(line -> line.logger().equals(logger.getName()))
        .map(Line::text)
        .toList();
  }

  @Override
  public void close() {
    context().getConfiguration().getRootLogger().removeAppender(getName());
    stop();
  }
}
