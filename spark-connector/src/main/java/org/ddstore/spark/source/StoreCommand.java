// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.RankPlaces;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.monitor.StatisticsJson;
import org.ddstore.spark.resident.StoreOwner;
import org.ddstore.spark.types.OptionKeys;
import org.ddstore.spark.types.StoreGrant;

/**
 * A call of a method of a store by options of a read, for clients that have no Java, such as those
 * of Spark Connect. Its result is one row with JSON: {@code {"value": ..}}, or {@code {"error":
 * class, "message": text}}. It runs once per request id, because Spark plans a query repeatedly.
 */
enum StoreCommand {
  /** Facts about the store. */
  DESCRIBE {
    @Override
    void run(ResidentStore store, CaseInsensitiveStringMap options, ObjectNode result) {
      ObjectNode value = result.putObject(VALUE);
      value
          .put("rows", store.rows())
          .put("bytes", store.bytes())
          .put("ranks", store.ranks())
          .put("width", store.width())
          .put("digest", store.digest())
          .put("owner", store.owner());
      ArrayNode fields = value.putArray("fields");
      store.schema().fields().forEach(field -> fields.add(field.toString()));
    }
  },

  /** Human-readable lines. */
  EXPLAIN {
    @Override
    void run(ResidentStore store, CaseInsensitiveStringMap options, ObjectNode result) {
      result.put(VALUE, store.explain());
    }
  },

  /** The state of the store and the reads of its executors, see {@link StatisticsJson}. */
  STATISTICS {
    @Override
    void run(ResidentStore store, CaseInsensitiveStringMap options, ObjectNode result) {
      result.set(VALUE, StatisticsJson.node(store.statistics()));
    }
  },

  /** A handle without end. */
  HANDLE {
    @Override
    void run(ResidentStore store, CaseInsensitiveStringMap options, ObjectNode result) {
      result.put(VALUE, store.handle().toJson());
    }
  },

  /** Writes a handle to a file of the driver, and keeps it up to date. */
  FOLLOW {
    @Override
    void run(ResidentStore store, CaseInsensitiveStringMap options, ObjectNode result)
        throws IOException {
      if (StoreOwner.isOfConnect(SparkSession.active().sparkContext())) {
        throw new UnsupportedOperationException(
            "a user of Spark Connect has no files of the driver");
      }
      store.handle().save(Path.of(required(options, FILE)), true);
    }
  },

  /** A handle with an end. */
  GRANT {
    @Override
    void run(ResidentStore store, CaseInsensitiveStringMap options, ObjectNode result) {
      result.put(VALUE, store.grant(required(options, LABEL), lifetime(options)).toJson());
    }
  },

  /** All grants. */
  GRANTS {
    @Override
    void run(ResidentStore store, CaseInsensitiveStringMap options, ObjectNode result) {
      ArrayNode grants = result.putArray(VALUE);
      for (StoreGrant grant : store.grants()) {
        ObjectNode each = grants.addObject().put("label", grant.label());
        grant.expires().ifPresent(end -> each.put("expiresMs", end.toEpochMilli()));
        each.put("isRevoked", grant.isRevoked());
      }
    }
  },

  /** Ends a grant. */
  REVOKE {
    @Override
    void run(ResidentStore store, CaseInsensitiveStringMap options, ObjectNode result) {
      ArrayNode silent = result.putArray(VALUE);
      store.revoke(required(options, LABEL)).forEach(silent::add);
    }
  },

  /** Restores lost rows. */
  REPAIR {
    @Override
    void run(ResidentStore store, CaseInsensitiveStringMap options, ObjectNode result) {
      store.repair();
    }
  },

  /** Waits for the cluster, and restores lost rows, before ranks run. */
  PREPARE {
    @Override
    void run(ResidentStore store, CaseInsensitiveStringMap options, ObjectNode result) {
      RankPlaces.prepare(store, ReadOptions.integer(ATTEMPT, required(options, ATTEMPT)));
      Settings settings = Settings.of(SparkSession.active());
      result
          .putObject(VALUE)
          .put("ranks", store.ranks())
          .put("maxAttempts", settings.maxAttempts())
          .put("retryTaskExceptions", settings.retriesTaskExceptions());
    }
  };

  /** Value of the option for a scan of the ranks, see {@link RanksScan}. */
  static final String RANKS = "ranks";

  /** Name of the option that has the name of a command. */
  static final String COMMAND = "command";

  private static final String REQUEST = "request";
  private static final String LABEL = "label";
  private static final String EXPIRES_MS = "expiresInMs";
  private static final String FILE = "file";
  private static final String ATTEMPT = "attempt";
  private static final List<String> LEGAL =
      List.of(OptionKeys.NAME, OptionKeys.PATH, COMMAND, REQUEST, LABEL, EXPIRES_MS, FILE, ATTEMPT);

  private static final String VALUE = "value";
  private static final int MAX_RESULTS = 64;
  private static final JsonMapper JSON = JsonMapper.builder().build();

  /** Results, of which the oldest is removed first. Guarded by itself. */
  private static final Map<Request, FutureTask<String>> RESULTS =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Request, FutureTask<String>> eldest) {
          return size() > MAX_RESULTS;
        }
      };

  /**
   * A request. Another user cannot take a result by its id, which Spark's UI shows.
   *
   * @param user user who has made it
   */
  private record Request(String user, StoreCommand command, String store, String id) {}

  abstract void run(ResidentStore store, CaseInsensitiveStringMap options, ObjectNode result)
      throws IOException;

  /**
   * Runs the command of the options, or waits for the run of its request. Blocks.
   *
   * @return the result as JSON
   * @throws IllegalArgumentException if the options are no request
   */
  static String result(CaseInsensitiveStringMap options) {
    ReadOptions.refuseUnknown(options, LEGAL, "command");
    StoreCommand command = named(options.get(COMMAND));
    String name = ReadOptions.storeName(options);
    SparkSession session = SparkSession.active();
    String user = StoreOwner.current(session.sparkContext()).user();
    Request request = new Request(user, command, name, required(options, REQUEST));
    FutureTask<String> task = new FutureTask<>(() -> command.json(name, options));
    FutureTask<String> first;
    synchronized (RESULTS) {
      first = RESULTS.putIfAbsent(request, task);
    }
    if (first == null) {
      task.run();
      first = task;
    }
    try {
      return first.get();
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted: command %s of \"%s\"".formatted(command, name));
    }
  }

  private String json(String name, CaseInsensitiveStringMap options) {
    ObjectNode result = JSON.createObjectNode();
    try {
      run(DDStores.open(SparkSession.active(), name), options, result);
    } catch (IOException e) {
      result.put("error", e.getClass().getSimpleName()).put("message", e.toString());
    } catch (UncheckedIOException e) {
      result.put("error", "IOException").put("message", e.getCause().toString());
    } catch (RuntimeException e) {
      result
          .put("error", e.getClass().getSimpleName())
          .put("message", String.valueOf(e.getMessage()));
    }
    return result.toString();
  }

  private static StoreCommand named(String name) {
    return Stream.of(values())
        .filter(command -> command.name().toLowerCase(Locale.ROOT).equals(name))
        .findAny()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "option \"%s\" of format \"ddstore\" is \"%s\": no such command"
                        .formatted(COMMAND, name)));
  }

  private static String required(CaseInsensitiveStringMap options, String key) {
    String value = options.get(key);
    if (value == null) {
      throw new IllegalArgumentException(
          "option \"%s\" of format \"ddstore\" is missing".formatted(key));
    }
    return value;
  }

  private static Duration lifetime(CaseInsensitiveStringMap options) {
    return Duration.ofMillis(ReadOptions.integer(EXPIRES_MS, required(options, EXPIRES_MS)));
  }
}
