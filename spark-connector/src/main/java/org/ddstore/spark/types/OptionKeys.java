// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.types;

/**
 * The keys of all options and settings of the connector. They are not case-sensitive as options,
 * and case-sensitive as settings.
 *
 * <p>Options without a prefix belong to one read or write: {@code spark.read().format(FORMAT)
 * .option(..)}, {@code df.write().format(FORMAT).option(..)}, and {@code OPTIONS} or {@code
 * TBLPROPERTIES} of SQL (docs/sql.md). Settings begin with {@link #SETTING_PREFIX} and belong to a
 * session or to the application: {@code spark.conf().set(..)}, {@code spark-submit --conf}
 * (docs/settings.md). An option takes precedence over the setting of the same name.
 *
 * <p>Times have the units of Spark ({@code 500ms}, {@code 30s}, {@code 10min}, {@code 1d}), seconds
 * without a unit.
 */
public final class OptionKeys {
  /** Name of the data source in {@code format(..)} and {@code USING}. */
  public static final String FORMAT = "ddstore";

  /** Spark's key of the SQL catalog {@code ddstore}; its value is the class of the catalog. */
  public static final String SQL_CATALOG = "spark.sql.catalog." + FORMAT;

  // Options of reads and writes.

  /** Name of the store: 1 to 128 letters, digits, {@code _} and {@code -}. No default. */
  public static final String NAME = "name";

  /** Spark's key of the argument of {@code load(..)} and {@code save(..)}; the same as NAME. */
  public static final String PATH = "path";

  // Options of reads.

  /**
   * Name of an additional last column with the global index, a BIGINT. No such column by default.
   */
  public static final String INDEX_COLUMN = "indexColumn";

  /**
   * Number of distinct random rows to read instead of all, an integer from 0 to the number of rows.
   * All rows by default.
   */
  public static final String SAMPLE = "sample";

  /** Seed of {@link #SAMPLE}, a 64-bit integer; 0 by default. */
  public static final String SAMPLE_SEED = "sampleSeed";

  // Options of writes.

  /** Number of ranks, an integer from 1 to 16,384; {@link #SETTING_RANKS} by default. */
  public static final String RANKS = "ranks";

  /**
   * Number of ranks that together hold one full copy of the rows, an integer from 1 to 16,384 that
   * divides the number of ranks; {@link #SETTING_WIDTH} by default.
   */
  public static final String WIDTH = "width";

  /**
   * Transport of rows outside of shared memory: the name of a transport, or {@code auto}, see
   * docs/settings.md. A store uses another one if resident stores cannot use it. {@link
   * #SETTING_TRANSPORT} by default.
   */
  public static final String TRANSPORT = "transport";

  /**
   * Memory of the shards: {@code shm}, {@code direct}, or {@code file}; {@link #SETTING_BACKING}.
   */
  public static final String BACKING = "backing";

  /**
   * Directory of the files of the backing {@code file}, an absolute path on a local disk of every
   * executor; {@link #SETTING_DIRECTORY} by default.
   */
  public static final String DIRECTORY = "directory";

  /** Columns to order the rows by, separated by commas. The order of the source by default. */
  public static final String ORDER_BY = "orderBy";

  /** Seed by which the rows are shuffled, a 64-bit integer. Not shuffled by default. */
  public static final String SHUFFLE = "shuffle";

  /** Columns to store, separated by commas; all columns by default. */
  public static final String COLUMNS = "columns";

  /**
   * Prefix of the key that declares the type and shape of a column: {@code type.image} with a value
   * such as {@code uint8[28,28]} or {@code float32[?,2]}. By default, the type of the column.
   */
  public static final String TYPE_PREFIX = "type.";

  /**
   * Prefix of the key that sets the replacement of nulls of a column, and of null elements of its
   * arrays: {@code fillNulls.age} with a value such as {@code -1}. By default, nulls are errors.
   */
  public static final String FILL_NULLS_PREFIX = "fillNulls.";

  /**
   * Prefix of the key that sets the number with which arrays of a column are padded to their
   * declared shape: {@code pad.tokens} with a value such as {@code 0}. By default, shorter arrays
   * are errors.
   */
  public static final String PAD_PREFIX = "pad.";

  /**
   * Prefix of the key that truncates longer arrays of a column to their declared shape: {@code
   * truncate.tokens} with the value {@code true} or {@code false}. By default, longer arrays are
   * errors.
   */
  public static final String TRUNCATE_PREFIX = "truncate.";

  /**
   * Form in which all decimal columns are stored: {@code int64}, the unscaled value, or {@code
   * float64}. By default, decimals are errors.
   */
  public static final String DECIMALS = "decimals";

  /**
   * Prefix of the key that sets the form of one decimal column: {@code decimals.price} with the
   * value {@code int64} or {@code float64}; {@link #DECIMALS} by default.
   */
  public static final String DECIMALS_PREFIX = DECIMALS + ".";

  // Settings of a session or an application.

  /** Prefix of all settings. */
  public static final String SETTING_PREFIX = "spark.ddstore.";

  /** Number of ranks, an integer from 1 to 16,384; all slots by default. */
  public static final String SETTING_RANKS = SETTING_PREFIX + RANKS;

  /**
   * Number of ranks that together hold one full copy of the rows, an integer from 1 to 16,384 that
   * divides the number of ranks; all ranks by default.
   */
  public static final String SETTING_WIDTH = SETTING_PREFIX + WIDTH;

  /**
   * Transport of rows outside of shared memory: the name of a transport, or {@code auto}, see
   * docs/settings.md; {@code auto} by default.
   */
  public static final String SETTING_TRANSPORT = SETTING_PREFIX + TRANSPORT;

  /** Provider of libfabric, at most 64 characters; the best one by default. */
  public static final String SETTING_FABRIC_PROVIDER = SETTING_PREFIX + "fabric.provider";

  /** Interface of libfabric, at most 64 characters; the nearest one by default. */
  public static final String SETTING_FABRIC_INTERFACE = SETTING_PREFIX + "fabric.interface";

  /** Reads of rows of the same process and host by memory; {@code true} by default. */
  public static final String SETTING_SHORTCUT = SETTING_PREFIX + "shortcut";

  /** First port on which executors listen, from 0 to 65,535; 0, any port, by default. */
  public static final String SETTING_PORT = SETTING_PREFIX + "port";

  /** Reads of {@code tcp} over data channels if nothing is encrypted; {@code true} by default. */
  public static final String SETTING_DATA_CHANNELS = SETTING_PREFIX + "data.channels";

  /** Grants to readers from outside of Spark; {@code true} by default. */
  public static final String SETTING_GRANTS = SETTING_PREFIX + "grants";

  /** Tab "DDStore" in Spark's UI; {@code true} by default. */
  public static final String SETTING_UI = SETTING_PREFIX + "ui.enabled";

  /** First port for data channels, from 0 to 65,535; 0, any port, by default. */
  public static final String SETTING_DATA_PORT = SETTING_PREFIX + "data.port";

  /** Maximum time of a batch whose rows come over the transport; 1 minute by default. */
  public static final String SETTING_READ_TIMEOUT = SETTING_PREFIX + "readTimeout";

  /** Maximum time that a rank serves its rows after its task has ended; 1 day by default. */
  public static final String SETTING_FINISH_TIMEOUT = SETTING_PREFIX + "finishTimeout";

  /** Memory of the shards: {@code shm}, {@code file} or {@code direct}; {@code shm} by default. */
  public static final String SETTING_BACKING = SETTING_PREFIX + BACKING;

  /** Directory of the segment files, an absolute path; /dev/shm by default, for {@code shm}. */
  public static final String SETTING_DIRECTORY = SETTING_PREFIX + DIRECTORY;

  /** Maximum number of submissions of a job, from 1 to 1,000; 4 by default. */
  public static final String SETTING_MAX_ATTEMPTS = SETTING_PREFIX + "maxAttempts";

  /** Retries of exceptions of the user's code; {@code false} by default. */
  public static final String SETTING_RETRY_TASK_EXCEPTIONS = SETTING_PREFIX + "retryTaskExceptions";

  /** Maximum time that a rank waits for others in a collective call; 10 minutes by default. */
  public static final String SETTING_COLLECTIVE_TIMEOUT = SETTING_PREFIX + "collectiveTimeout";

  /** Maximum time that a close waits for reads in flight; 30 seconds by default. */
  public static final String SETTING_CLOSE_TIMEOUT = SETTING_PREFIX + "closeTimeout";

  /** Maximum time that a start waits for slots; 20 seconds by default. */
  public static final String SETTING_SLOTS_TIMEOUT = SETTING_PREFIX + "slotsTimeout";

  /** Refusal of loads that cannot fit into memory; {@code true} by default. */
  public static final String SETTING_CHECK_MEMORY = SETTING_PREFIX + "checkMemory";

  /** Maximum time that a write waits for other writes of its store; 1 hour by default. */
  public static final String SETTING_WRITE_TIMEOUT = SETTING_PREFIX + "writeTimeout";

  /**
   * Restriction of changes of a store to its owner; {@code true} by default. Set for the
   * application when it starts.
   */
  public static final String SETTING_OWNER_CHECK = SETTING_PREFIX + "ownerCheck";

  private OptionKeys() {}
}
