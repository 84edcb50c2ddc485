// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.config;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.spark.network.util.JavaUtils;
import org.ddstore.spark.types.OptionKeys;
import org.ddstore.transport.TransportProviders;
import org.ddstore.types.Backing;

/**
 * The settings {@code spark.ddstore.*}, with name, default, legal range and meaning. A setting
 * whose name begins with the name of a transport and a dot belongs to it: only its backend reads
 * it, by {@link Settings#text}.
 */
public enum Setting {
  RANKS(
      OptionKeys.SETTING_RANKS,
      "",
      "all slots",
      Kind.integer(1, ReplicaGroups.MAX_RANKS),
      "Number of ranks. A rank is a barrier task that owns one shard."),
  WIDTH(
      OptionKeys.SETTING_WIDTH,
      "",
      "all ranks",
      Kind.integer(1, ReplicaGroups.MAX_RANKS),
      "Number of ranks of a replica group: consecutive ranks that together hold one full copy. Each"
          + " rank reads only inside its group. Must divide the number of ranks. With several"
          + " copies the rows cannot be updated."),
  TRANSPORT(
      OptionKeys.SETTING_TRANSPORT,
      "auto",
      "auto",
      Kind.choice(TransportProviders.names()),
      "Transport of rows outside of shared memory: %s."
          .formatted(TransportProviders.summary("`%s`"))),
  FABRIC_PROVIDER(
      OptionKeys.SETTING_FABRIC_PROVIDER,
      "",
      "the best",
      Kind.NAME,
      "Only provider of libfabric that `fabric` can use: `verbs`, `efa`, `cxi`, `tcp` or another"
          + " one that `fi_info` lists."),
  FABRIC_INTERFACE(
      OptionKeys.SETTING_FABRIC_INTERFACE,
      "",
      "`FABRIC_IFACE`, or the nearest",
      Kind.NAME,
      "Only interface that `fabric` can use, a domain that `fi_info` lists, such as `mlx5_0` or"
          + " `eth0`. Overrides the executor's environment variable `FABRIC_IFACE`. By default, the"
          + " device nearest to the executor's processors or, without RDMA hardware, the address"
          + " that Spark is bound to."),
  SHORTCUT(
      OptionKeys.SETTING_SHORTCUT,
      "true",
      "true",
      Kind.choice(List.of("true", "false")),
      "If true, rows of the same process and host are read by memory; if false, over the"
          + " transport."),
  PORT(
      OptionKeys.SETTING_PORT,
      "0",
      "any",
      Kind.integer(0, 65_535),
      "First port on which an executor listens for other executors. If it is in use, the next ports"
          + " are tried, at most `spark.port.maxRetries` of them."),
  DATA_CHANNELS(
      OptionKeys.SETTING_DATA_CHANNELS,
      "true",
      "true",
      Kind.choice(List.of("true", "false")),
      "If true, `tcp` reads rows over connections of their own, which are faster; if false, or if"
          + " Spark's network is encrypted, over Spark's network."),
  DATA_PORT(
      OptionKeys.SETTING_DATA_PORT,
      "0",
      "any",
      Kind.integer(0, 65_535),
      "First port on which an executor listens for these connections, once another executor reads"
          + " its rows. If it is in use, the next ports are tried, at most `spark.port.maxRetries` of"
          + " them. If it cannot be reached, rows come over Spark's network."),
  GRANTS(
      OptionKeys.SETTING_GRANTS,
      "true",
      "true",
      Kind.choice(List.of("true", "false")),
      "If false, no store can be read from outside of its application: `grant` and `toJson` of"
          + " handles are refused, and no port opens to such readers."),
  UI(
      OptionKeys.SETTING_UI,
      "true",
      "true",
      Kind.choice(List.of("true", "false")),
      "If false, Spark's UI has no tab \"DDStore\". Read at the first use of a store."),
  READ_TIMEOUT(
      OptionKeys.SETTING_READ_TIMEOUT,
      "1min",
      "1min",
      Kind.DURATION,
      "Maximum time of a batch whose rows come over the transport, or of each 8 MiB of a run of"
          + " consecutive rows. Also the maximum time that a read waits for rows that `epochBegin`"
          + " changes, wherever they are."),
  FINISH_TIMEOUT(
      OptionKeys.SETTING_FINISH_TIMEOUT,
      "1d",
      "1d",
      Kind.DURATION,
      "Maximum time that a rank whose task has ended serves its rows to ranks that still run, and"
          + " waits for the copies that ranks of other replica groups make."),
  BACKING(
      OptionKeys.SETTING_BACKING,
      "shm",
      "shm",
      Kind.choice(Arrays.stream(Backing.values()).map(Backing::toString).toList()),
      "Memory of the shards: shared memory (`shm`), files on a disk, for data larger than memory"
          + " (`file`), or direct buffers, which other processes cannot map (`direct`)."),
  DIRECTORY(
      OptionKeys.SETTING_DIRECTORY,
      "",
      "/dev/shm for shm",
      Kind.PATH,
      "Directory of the segment files, on a local disk of every executor, not on NFS, Lustre, GPFS"
          + " or another network file system. Required for `file`."),
  MAX_ATTEMPTS(
      OptionKeys.SETTING_MAX_ATTEMPTS,
      "4",
      "4",
      Kind.integer(1, 1000),
      "Maximum number of submissions of a job, including the first; also of attempts to plan a load"
          + " if planning loses executors. A failure that another attempt cannot fix ends the job"
          + " immediately: bad data, a file that Spark cannot read, a full or unwritable directory,"
          + " a batch that is too large, an exception of the task's own code."),
  RETRY_TASK_EXCEPTIONS(
      OptionKeys.SETTING_RETRY_TASK_EXCEPTIONS,
      "false",
      "false",
      Kind.choice(List.of("true", "false")),
      "If true, exceptions that the code of the user raises (in tasks, transforms and functions of"
          + " the query) and OutOfMemoryErrors are retried like other failures."),
  COLLECTIVE_TIMEOUT(
      OptionKeys.SETTING_COLLECTIVE_TIMEOUT,
      "10min",
      "10min",
      Kind.DURATION,
      "Maximum time that a rank waits for other ranks in a collective call."),
  CLOSE_TIMEOUT(
      OptionKeys.SETTING_CLOSE_TIMEOUT,
      "30s",
      "30s",
      Kind.DURATION,
      "Maximum time that a close waits for reads in flight."),
  SLOTS_TIMEOUT(
      OptionKeys.SETTING_SLOTS_TIMEOUT,
      "20s",
      "20s",
      Kind.DURATION,
      "Maximum time that a start waits for executors to register before it fails for lack of"
          + " slots."),
  CHECK_MEMORY(
      OptionKeys.SETTING_CHECK_MEMORY,
      "true",
      "true",
      Kind.choice(List.of("true", "false")),
      "If true, a load whose shards cannot fit into the available memory is refused."),
  WRITE_TIMEOUT(
      OptionKeys.SETTING_WRITE_TIMEOUT,
      "1h",
      "1h",
      Kind.DURATION,
      "Maximum time that a write of a resident store waits for other threads of the application"
          + " that write the same store."),
  OWNER_CHECK(
      OptionKeys.SETTING_OWNER_CHECK,
      "true",
      "true",
      Kind.choice(List.of("true", "false")),
      "If true, only the user who created a resident store can append to it, replace, repair and"
          + " drop it. Read only from the application's configuration, not from that of a"
          + " session.");

  /** The limit of {@link org.ddstore.collective.Communicator}. */
  private static final long MAX_TIME_MS = TimeUnit.DAYS.toMillis(365);

  private final String key;
  private final String defaultText;
  private final String shownDefault;

  @SuppressWarnings("ImmutableEnumChecker") // every kind captures immutable values only
  private final Kind kind;

  private final String meaning;

  /**
   * @param defaultText default value; empty if there is none
   * @param shownDefault description of the default in the table of settings
   */
  Setting(String key, String defaultText, String shownDefault, Kind kind, String meaning) {
    this.key = key;
    this.defaultText = defaultText;
    this.shownDefault = shownDefault;
    this.kind = kind;
    this.meaning = meaning;
  }

  /** Returns the full name, for example {@code spark.ddstore.ranks}. */
  public String key() {
    return key;
  }

  public String defaultText() {
    return defaultText;
  }

  String shownDefault() {
    return shownDefault;
  }

  String legalRange() {
    return kind.legalRange();
  }

  String meaning() {
    return meaning;
  }

  static Optional<Setting> byKey(String key) {
    return Arrays.stream(values()).filter(setting -> setting.key().equals(key)).findAny();
  }

  /**
   * Checks a value.
   *
   * @return {@code text} without surrounding blanks
   * @throws IllegalArgumentException if the value is outside the legal range
   */
  public String checked(String text) {
    String value = text.strip();
    if (!kind.accepts(value)) {
      throw new IllegalArgumentException(
          "setting %s is \"%s\", legal: %s".formatted(key(), value, legalRange()));
    }
    return value;
  }

  /** A kind of values, with their legal range. */
  private interface Kind {
    Kind PATH =
        new Kind() {
          @Override
          public boolean accepts(String value) {
            try {
              return Path.of(value).isAbsolute();
            } catch (InvalidPathException e) {
              return false;
            }
          }

          @Override
          public String legalRange() {
            return "an absolute path";
          }
        };

    Kind NAME =
        new Kind() {
          @Override
          public boolean accepts(String value) {
            return value.matches("[\\w.:;/+-]{1,64}");
          }

          @Override
          public String legalRange() {
            return "a name of at most 64 letters, digits and . : ; / + - _";
          }
        };

    Kind DURATION =
        new Kind() {
          @Override
          public boolean accepts(String value) {
            try {
              long milliseconds = milliseconds(value);
              return milliseconds > 0 && milliseconds <= MAX_TIME_MS;
            } catch (IllegalArgumentException e) {
              return false;
            }
          }

          @Override
          public String legalRange() {
            return "a time such as 500ms, 30s or 10min, above 0, at most 365d; seconds without a unit";
          }
        };

    boolean accepts(String value);

    String legalRange();

    static Kind integer(int min, int max) {
      return new Kind() {
        @Override
        public boolean accepts(String value) {
          try {
            int number = Integer.parseInt(value);
            return number >= min && number <= max;
          } catch (NumberFormatException e) {
            return false;
          }
        }

        @Override
        public String legalRange() {
          return String.format(Locale.ROOT, "%d to %,d", min, max);
        }
      };
    }

    static Kind choice(List<String> values) {
      return new Kind() {
        @Override
        public boolean accepts(String value) {
          return values.contains(value);
        }

        @Override
        public String legalRange() {
          return String.join(", ", values);
        }
      };
    }
  }

  /** Parses a time in Spark's notation to milliseconds; a number without a unit means seconds. */
  static long milliseconds(String value) {
    boolean withoutUnit = value.chars().allMatch(Character::isDigit);
    return withoutUnit
        ? TimeUnit.SECONDS.toMillis(JavaUtils.timeStringAsSec(value))
        : JavaUtils.timeStringAsMs(value);
  }
}
