// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.logging.log4j.Level;

/**
 * Keeps what this JVM logs from now on, besides where it goes: the standard error, which the
 * logging of the tests follows, and its pattern, both from log4j2.properties of the launcher.
 */
public final class LogTap implements AutoCloseable {
  private static final Pattern LINE =
      Pattern.compile("^[0-9:.]+ [A-Z]+ (\\w+): (.*)$", Pattern.MULTILINE);

  private final PrintStream before = System.err;
  private final ByteArrayOutputStream said = new ByteArrayOutputStream(); // synchronized itself

  /**
   * A logged line.
   *
   * @param logger the simple name of a class
   */
  public record Line(String logger, String text) {}

  private LogTap() {
    OutputStream both =
        new OutputStream() {
          @Override
          public void write(int one) {
            before.write(one);
            said.write(one);
          }

          @Override
          public void write(byte[] bytes, int offset, int length) {
            before.write(bytes, offset, length);
            said.write(bytes, offset, length);
          }
        };
    System.setErr(new PrintStream(both, true, UTF_8));
  }

  public static LogTap open() {
    return new LogTap();
  }

  /**
   * Sets the level of a class, or removes it.
   *
   * @param level null to remove it
   */
  public static void setLevel(Class<?> logger, Level level) {
    try { // by name: javac warns of an annotation of this package that is on no class path
      Class.forName("org.apache.logging.log4j.core.config.Configurator")
          .getMethod("setLevel", String.class, Level.class)
          .invoke(null, logger.getName(), level);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /** First lines, of messages that have several. */
  public List<Line> lines() {
    return LINE.matcher(said.toString(UTF_8)).results().map(LogTap::line).toList();
  }

  private static Line line(MatchResult found) {
    return new Line(found.group(1), found.group(2));
  }

  /** Returns what some classes of ours have logged. */
  public List<String> of(Class<?>... loggers) {
    Set<String> names = Stream.of(loggers).map(Class::getSimpleName).collect(Collectors.toSet());
    return lines().stream().filter(line -> names.contains(line.logger())).map(Line::text).toList();
  }

  @Override
  public void close() {
    System.setErr(before);
  }
}
