package org.ddstore.spark.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The limit RLIMIT_MEMLOCK of a process, getrlimit(2), on the memory that it can pin for RDMA.
 *
 * @param softBytes soft limit; null if unlimited or unknown
 * @param hardBytes hard limit; null if unlimited or unknown
 */
record LockedMemoryLimit(Long softBytes, Long hardBytes) {
  private static final Pattern LINE =
      Pattern.compile("(?m)^Max locked memory\\s+(\\d+|unlimited)\\s+(\\d+|unlimited)\\s");

  static LockedMemoryLimit ofThisProcess() {
    try {
      return parse(Files.readString(Path.of("/proc/self/limits")));
    } catch (IOException e) {
      return new LockedMemoryLimit(null, null); // not Linux
    }
  }

  /**
   * @param limits text of {@code /proc/self/limits}, proc(5)
   */
  static LockedMemoryLimit parse(String limits) {
    Matcher matcher = LINE.matcher(limits);
    return matcher.find()
        ? new LockedMemoryLimit(number(matcher.group(1)), number(matcher.group(2)))
        : new LockedMemoryLimit(null, null);
  }

  private static Long number(String text) {
    return text.equals("unlimited") ? null : Long.valueOf(text);
  }
}
