// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.config;

import java.io.Serializable;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.apache.commons.text.similarity.LevenshteinDistance;
import org.apache.spark.sql.SparkSession;
import org.ddstore.StoreOptions;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.spark.types.OptionKeys;
import org.ddstore.transport.TransportProviders;
import org.ddstore.types.Backing;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.jdk.javaapi.CollectionConverters;

/**
 * All settings of a store; the only class that reads them. In order of precedence:
 *
 * <ol>
 *   <li>a builder method of the spec: here {@link #with};
 *   <li>a {@code spark.ddstore.*} setting of the session, which inherits those of the application
 *       ({@code spark-submit --conf}) and can be changed by {@code session.conf()};
 *   <li>the default, see {@link Setting}.
 * </ol>
 *
 * A value outside its range causes an {@link IllegalArgumentException} that names setting, value
 * and range when the value is read or set. An unknown {@code spark.ddstore.*} name is logged once,
 * with the nearest known name. Immutable.
 */
public final class Settings implements Serializable {
  /** The part of the page of settings that Spark reads, see {@code ConnectionSettings}. */
  private static final String CONNECTIONS =
      """

      ## Settings of connections

      They control the connections between processes: those of the transport `tcp`, of collectives and of commands to
      executors. The preflight checks them. Names and meanings are those of Spark's `spark.shuffle.io.*`.

      | Setting | Default | Legal | Meaning |
      |---|---|---|---|
      | `spark.ddstore.io.mode` | NIO | NIO, EPOLL, KQUEUE, AUTO | Kind of event loop of Netty. Releases of Spark before 4.2 may know fewer. |
      | `spark.ddstore.io.serverThreads` | number of processors, at most 8 | a whole number of 0 to 256; 0 means Netty's default | Threads that answer requests of other processes. |
      | `spark.ddstore.io.clientThreads` | number of processors, at most 8 | a whole number of 0 to 256; 0 means Netty's default | Threads that receive replies. |
      | `spark.ddstore.io.backLog` | -1, that of the system | a whole number | Length of the queue of connections that are not accepted yet. |
      | `spark.ddstore.io.receiveBuffer` | -1, that of the system | a whole number of bytes | Receive buffer of a socket (SO_RCVBUF). |
      | `spark.ddstore.io.sendBuffer` | -1, that of the system | a whole number of bytes | Send buffer of a socket (SO_SNDBUF). |
      | `spark.ddstore.io.connectionTimeout` | `spark.network.timeout` | a time such as 120s | Maximum time that a connection with outstanding requests may be silent. |
      | `spark.ddstore.io.connectionCreationTimeout` | 20s | 1s to 24d | Maximum time to open a connection and to prove the token of a store. |
      """;

  private static final long serialVersionUID = 1L;
  private static final Logger LOG = LoggerFactory.getLogger(Settings.class);
  private static final Set<String> WARNED = ConcurrentHashMap.newKeySet();

  /** Prefix of the threads, buffers and time-outs of connections, which Spark itself reads. */
  private static final String NETWORK = OptionKeys.SETTING_PREFIX + "io.";

  private final EnumMap<Setting, String> values;

  private Settings(EnumMap<Setting, String> values) {
    this.values = values;
  }

  /** Returns the settings of a session, and logs a warning for each unknown name. */
  public static Settings of(SparkSession session) {
    Map<String, String> configuration = CollectionConverters.asJava(session.conf().getAll());
    unknown(configuration).stream().filter(WARNED::add).forEach(LOG::warn);
    return of(configuration);
  }

  /**
   * Returns the settings of a configuration.
   *
   * @param configuration names and values; names without the prefix are ignored
   */
  public static Settings of(Map<String, String> configuration) {
    EnumMap<Setting, String> values = new EnumMap<>(Setting.class);
    for (Setting setting : Setting.values()) {
      String text = configuration.get(setting.key());
      if (text != null) {
        values.put(setting, setting.checked(text));
      }
    }
    return new Settings(values);
  }

  /** Returns one warning for each unknown name with the prefix. */
  static List<String> unknown(Map<String, String> configuration) {
    List<String> warnings = new ArrayList<>();
    for (String key : new TreeMap<>(configuration).keySet()) {
      if (key.startsWith(OptionKeys.SETTING_PREFIX)
          && !key.startsWith(NETWORK)
          && Setting.byKey(key).isEmpty()) {
        warnings.add(
            "setting %s is unknown and has no effect; the nearest is %s"
                .formatted(key, nearest(key)));
      }
    }
    return warnings;
  }

  private static String nearest(String key) {
    LevenshteinDistance distance = LevenshteinDistance.getDefaultInstance();
    return Arrays.stream(Setting.values())
        .map(Setting::key)
        .min(
            Comparator.comparingInt(
                known ->
                    distance.apply(key.toLowerCase(Locale.ROOT), known.toLowerCase(Locale.ROOT))))
        .orElseThrow();
  }

  /**
   * Returns a copy in which a setting has another value.
   *
   * @throws IllegalArgumentException if the value is outside its range
   */
  public Settings with(Setting setting, Object value) {
    EnumMap<Setting, String> changed = new EnumMap<>(values);
    changed.put(
        setting,
        setting.checked(
            value instanceof Duration time ? time.toMillis() + "ms" : value.toString()));
    return new Settings(changed);
  }

  /** Returns the text of a setting, for a setting of one transport; empty if it has no value. */
  public String text(Setting setting) {
    return values.getOrDefault(setting, setting.defaultText());
  }

  private OptionalInt integer(Setting setting) {
    String text = text(setting);
    return text.isEmpty() ? OptionalInt.empty() : OptionalInt.of(Integer.parseInt(text));
  }

  private Duration duration(Setting setting) {
    return Duration.ofMillis(Setting.milliseconds(text(setting)));
  }

  /** Returns the number of ranks; empty for all slots. */
  public OptionalInt ranks() {
    return integer(Setting.RANKS);
  }

  /** Returns the number of ranks of a replica group; empty for all ranks. */
  OptionalInt width() {
    return integer(Setting.WIDTH);
  }

  public ReplicaGroups groups(int ranks) {
    return new ReplicaGroups(ranks, width().orElse(ranks));
  }

  /** Returns the configured transport, one of {@link TransportProviders#names}. */
  public String transport() {
    return text(Setting.TRANSPORT);
  }

  public boolean shortcut() {
    return Boolean.parseBoolean(text(Setting.SHORTCUT));
  }

  /** Returns the first port to listen on; 0 for any. */
  public int port() {
    return integer(Setting.PORT).orElseThrow();
  }

  public Duration readTimeout() {
    return duration(Setting.READ_TIMEOUT);
  }

  public Duration finishTimeout() {
    return duration(Setting.FINISH_TIMEOUT);
  }

  public Backing backing() {
    return Backing.valueOf(text(Setting.BACKING).toUpperCase(Locale.ROOT));
  }

  /** Returns the configured directory; if empty, {@code shm} uses /dev/shm, {@code file} fails. */
  public Optional<Path> directory() {
    return Optional.of(text(Setting.DIRECTORY)).filter(text -> !text.isEmpty()).map(Path::of);
  }

  public int maxAttempts() {
    return integer(Setting.MAX_ATTEMPTS).orElseThrow();
  }

  /** Returns whether exceptions of the user's code are retried. */
  public boolean retriesTaskExceptions() {
    return Boolean.parseBoolean(text(Setting.RETRY_TASK_EXCEPTIONS));
  }

  public Duration collectiveTimeout() {
    return duration(Setting.COLLECTIVE_TIMEOUT);
  }

  Duration closeTimeout() {
    return duration(Setting.CLOSE_TIMEOUT);
  }

  public Duration slotsTimeout() {
    return duration(Setting.SLOTS_TIMEOUT);
  }

  /** Returns the maximum time that a write waits for other writes of the same store. */
  public Duration writeTimeout() {
    return duration(Setting.WRITE_TIMEOUT);
  }

  public boolean checkMemory() {
    return Boolean.parseBoolean(text(Setting.CHECK_MEMORY));
  }

  /**
   * Returns the directory of the segments; empty for {@code direct}, and for {@code file} without a
   * directory.
   */
  public Optional<Path> segmentDirectory() {
    return switch (backing()) {
      case SHM -> Optional.of(directory().orElse(ProcessDirectory.SHARED_MEMORY));
      case FILE -> directory();
      case DIRECT -> Optional.empty();
    };
  }

  /**
   * Returns the options of a rank's store.
   *
   * @throws IllegalArgumentException for {@code file} backing without a directory
   */
  public StoreOptions storeOptions() {
    StoreOptions options =
        StoreOptions.defaults()
            .closeTimeout(closeTimeout())
            .readTimeout(readTimeout())
            .shortcut(shortcut());
    return switch (backing()) {
      case SHM -> directory().map(options::sharedMemory).orElse(options);
      case DIRECT -> options.backing(Backing.DIRECT);
      case FILE ->
          options.files(
              directory()
                  .orElseThrow(
                      () ->
                          new IllegalArgumentException(
                              "%s=file needs %s"
                                  .formatted(Setting.BACKING.key(), Setting.DIRECTORY.key()))));
    };
  }

  /** Returns the text of docs/settings.md; a test compares the page with it. */
  static String markdown() {
    StringBuilder page =
        new StringBuilder(
            """
            # Settings

            A builder method of the spec takes precedence over the `spark.ddstore.*` setting of the session or the
            application, and the setting takes precedence over the default. Times use Spark's units. This page is generated
            from `org.ddstore.spark.config.Setting`; `SettingsTest` describes how to renew it.

            [Settings of connections](#settings-of-connections) are at the end.

            | Setting | Default | Legal | Meaning |
            |---|---|---|---|
            """);
    for (Setting setting : Setting.values()) {
      page.append(
          "| `%s` | %s | %s | %s |%n"
              .formatted(
                  setting.key(), setting.shownDefault(), setting.legalRange(), setting.meaning()));
    }
    return page.append(CONNECTIONS).toString();
  }

  /** Returns the settings that are set, as text such as {@code ranks 4, transport tcp}. */
  public String text() {
    return values.entrySet().stream()
        .map(
            entry ->
                entry.getKey().key().substring(OptionKeys.SETTING_PREFIX.length())
                    + " "
                    + entry.getValue())
        .collect(Collectors.joining(", "));
  }

  @Override
  public String toString() {
    return "Settings[%s]".formatted(text());
  }
}
