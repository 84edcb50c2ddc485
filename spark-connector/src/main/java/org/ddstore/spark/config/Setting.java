package org.ddstore.spark.config;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.spark.network.util.JavaUtils;
import org.ddstore.types.Backing;

/** Every option that {@code spark.ddstore.*} takes: its name, default, legal range and meaning. */
public enum Setting {
  RANKS(
      "ranks",
      "",
      "all slots",
      Kind.integer(1, ReplicaGroups.MAX_RANKS),
      "Number of ranks: barrier tasks that each own one shard."),
  WIDTH(
      "width",
      "",
      "all ranks",
      Kind.integer(1, ReplicaGroups.MAX_RANKS),
      "Ranks of a replica group: each group of so many consecutive ranks holds one full copy, and"
          + " reads stay inside it. Divides the number of ranks. With several copies the rows"
          + " cannot be updated."),
  TRANSPORT(
      "transport",
      "auto",
      "auto",
      Kind.choice(TransportNames.ALL),
      "How rows are read that memory does not reach: `tcp` over Spark's own network; `fabric` by"
          + " libfabric, also without RDMA hardware; `mpi` by windows of Open MPI, with one rank an"
          + " executor; `auto` takes `fabric` where all ranks have RDMA"
          + " hardware, else `tcp`."),
  FABRIC_PROVIDER(
      "fabric.provider",
      "",
      "the best",
      Kind.NAME,
      "The only provider of libfabric that `fabric` may take: `verbs`, `efa`, `cxi`, `tcp`, .. as"
          + " `fi_info` shows them."),
  FABRIC_INTERFACE(
      "fabric.interface",
      "",
      "`FABRIC_IFACE`, or the nearest",
      Kind.NAME,
      "The only interface that `fabric` may use, a domain of `fi_info`: `mlx5_0`, `eth0`. It counts"
          + " before the executor's environment variable `FABRIC_IFACE`. Unless said: the device"
          + " nearest to the executor's processors, without RDMA hardware the address that Spark is"
          + " bound to."),
  SHORTCUT(
      "shortcut",
      "true",
      "true",
      Kind.choice(List.of("true", "false")),
      "Whether rows of the own process and host are read by memory, or over the transport as"
          + " well."),
  PORT(
      "port",
      "0",
      "any",
      Kind.integer(0, 65_535),
      "First port at which an executor listens for other executors; if it is taken, the next ones"
          + " are tried, as many as `spark.port.maxRetries` says."),
  READ_TIMEOUT(
      "readTimeout",
      "1min",
      "1min",
      Kind.DURATION,
      "How long a batch may take whose rows come over the transport; for a run of consecutive rows,"
          + " each 8 MiB of it. Also how long a read waits for rows that `epochBegin` changes,"
          + " wherever they are."),
  FINISH_TIMEOUT(
      "finishTimeout",
      "1d",
      "1d",
      Kind.DURATION,
      "How long a rank that has ended its task serves its rows to ranks that have not, and waits for"
          + " the copies that ranks of other replica groups make."),
  BACKING(
      "backing",
      "shm",
      "shm",
      Kind.choice(Arrays.stream(Backing.values()).map(Backing::toString).toList()),
      "Where shards lie: shared memory, files on a disk (for data larger than memory), or direct"
          + " buffers that neighbours cannot map."),
  DIRECTORY(
      "directory",
      "",
      "/dev/shm for shm",
      Kind.PATH,
      "Where segment files are made: a directory on a local disk of every executor, not on NFS,"
          + " Lustre, GPFS or another network file system. Required for `file`."),
  MAX_ATTEMPTS(
      "maxAttempts",
      "4",
      "4",
      Kind.integer(1, 1000),
      "How often the driver submits a job that fails, the first time included; also how often it"
          + " plans a load whose planning loses an executor. A failure that another attempt cannot"
          + " mend ends the job at once: bad data, a file that Spark cannot read, a full or"
          + " unwritable directory, a batch that is too large."),
  COLLECTIVE_TIMEOUT(
      "collectiveTimeout",
      "10min",
      "10min",
      Kind.DURATION,
      "How long a rank waits for the others in a collective call."),
  CLOSE_TIMEOUT(
      "closeTimeout", "30s", "30s", Kind.DURATION, "How long a close waits for reads in flight."),
  SLOTS_TIMEOUT(
      "slotsTimeout",
      "20s",
      "20s",
      Kind.DURATION,
      "How long a start waits for executors to register before it says that slots are missing."),
  CHECK_MEMORY(
      "checkMemory",
      "true",
      "true",
      Kind.choice(List.of("true", "false")),
      "Whether a load is refused when its shards cannot fit into the memory that is there."),
  WRITE_TIMEOUT(
      "writeTimeout",
      "1h",
      "1h",
      Kind.DURATION,
      "How long a write of a resident store waits while another thread of the application writes"
          + " the same store."),
  OWNER_CHECK(
      "ownerCheck",
      "true",
      "true",
      Kind.choice(List.of("true", "false")),
      "Whether only the user who has made a resident store may append to it, replace, repair and"
          + " drop it. Read from the application's configuration alone, not from that of a session.");

  static final String PREFIX = "spark.ddstore.";

  private final String shortName;
  private final String defaultText;
  private final String shownDefault;

  @SuppressWarnings("ImmutableEnumChecker") // every kind captures immutable values only
  private final Kind kind;

  private final String meaning;

  /**
   * @param defaultText the value when nothing is set; empty if there is none
   * @param shownDefault what the table of settings says of it
   */
  Setting(String shortName, String defaultText, String shownDefault, Kind kind, String meaning) {
    this.shortName = shortName;
    this.defaultText = defaultText;
    this.shownDefault = shownDefault;
    this.kind = kind;
    this.meaning = meaning;
  }

  /** The full name, {@code spark.ddstore.ranks} for example. */
  public String key() {
    return PREFIX + shortName;
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
   * Returns a legal value as it is given.
   *
   * @return {@code text} without surrounding blanks
   * @throws IllegalArgumentException if it is outside the legal range
   */
  public String checked(String text) {
    String value = text.strip();
    if (!kind.accepts(value)) {
      throw new IllegalArgumentException(
          "%s is \"%s\", legal: %s".formatted(key(), value, legalRange()));
    }
    return value;
  }

  /** The values that a setting takes. */
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
              return milliseconds(value) > 0;
            } catch (IllegalArgumentException e) {
              return false;
            }
          }

          @Override
          public String legalRange() {
            return "a time above 0 such as 500ms, 30s or 10min; seconds without a unit";
          }
        };

    boolean accepts(String value);

    String legalRange();

    static Kind integer(int least, int most) {
      return new Kind() {
        @Override
        public boolean accepts(String value) {
          try {
            int number = Integer.parseInt(value);
            return number >= least && number <= most;
          } catch (NumberFormatException e) {
            return false;
          }
        }

        @Override
        public String legalRange() {
          return String.format(Locale.ROOT, "%d to %,d", least, most);
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

  /** Reads a time as Spark does; a number without a unit means seconds. */
  static long milliseconds(String value) {
    boolean withoutUnit = value.chars().allMatch(Character::isDigit);
    return withoutUnit
        ? TimeUnit.SECONDS.toMillis(JavaUtils.timeStringAsSec(value))
        : JavaUtils.timeStringAsMs(value);
  }
}
