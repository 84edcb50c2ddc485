// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.chaos;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.RankTask;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.StoreHandle;
import org.ddstore.spark.StoreReader;
import org.ddstore.spark.StoreSpec;
import org.ddstore.spark.types.DumpMode;
import org.ddstore.spark.types.ResidentShard;
import org.ddstore.types.Backing;
import org.ddstore.types.DType;

/** The operations of a round, with the model of its stores. Used by one thread at a time. */
final class Operations {
  private static final int MIN_ROWS = 500;
  private static final int MAX_ROWS = 4000;
  private static final int MAX_APPENDED_ROWS = 20_000;
  private static final int MAX_PYTHON_SECONDS = 60;
  private static final int LOSS_POLLS = 60;
  private static final long LOSS_POLL_MS = 50;

  /** Ranks and width: 1, 2 and 3 copies. */
  private static final int[][] RANKS = {{3, 3}, {4, 2}, {3, 1}, {2, 2}, {6, 3}, {6, 2}};

  private final SparkSession session;
  private final ChaosSpark.Shape shape;
  private final List<String> transports;
  private final Path directory;
  private final Optional<Path> python;
  private final Map<String, StoreModel> models = new HashMap<>();

  /** The last complete dump, by store. */
  private final Map<String, Dump> dumps = new HashMap<>();

  /**
   * A dump.
   *
   * @param isInUse whether a store was restored from it, which needs it for repairs
   */
  private record Dump(Path path, Version version, boolean isInUse) {}

  /**
   * @param transports names of the transports that this machine has
   * @param directory directory of dumps and handles, which all executors see
   * @param python program that reads by a handle, empty if it cannot run here
   */
  Operations(
      SparkSession session,
      ChaosSpark.Shape shape,
      List<String> transports,
      Path directory,
      Optional<Path> python) {
    this.session = session;
    this.shape = shape;
    this.transports = List.copyOf(transports);
    this.directory = directory;
    this.python = python;
  }

  private static String name(Schedule.Step step) {
    return "chaos-" + step.store();
  }

  private StoreModel model(Schedule.Step step) {
    return models.computeIfAbsent(name(step), any -> new StoreModel());
  }

  private static Version.Piece piece(Random choose) {
    int rows = choose.nextInt(20) == 0 ? 0 : MIN_ROWS + choose.nextInt(MAX_ROWS - MIN_ROWS);
    return new Version.Piece(choose.nextInt(1 << 20), rows);
  }

  private int[] ranks(Random choose) {
    int fitting = (int) Arrays.stream(RANKS).filter(each -> each[0] <= shape.slots()).count();
    return RANKS[choose.nextInt(fitting)];
  }

  private StoreSpec spec(Dataset<Row> rows, Random choose) {
    int[] ranks = ranks(choose);
    StoreSpec spec =
        DDStores.from(rows)
            .field("x", DType.FLOAT32, 2)
            .ranks(ranks[0])
            .width(ranks[1])
            .shortcut(choose.nextInt(3) > 0)
            .transport(transports.get(choose.nextInt(transports.size())));
    spec = choose.nextInt(5) == 0 ? spec.backing(Backing.DIRECT) : spec;
    return choose.nextInt(3) == 0 ? spec.orderBy("position") : spec;
  }

  private ResidentStore open(Schedule.Step step) {
    return DDStores.open(session, name(step));
  }

  /**
   * Does what the operation needs, such as a store to read.
   *
   * @throws Exception if that fails: the operation is left out
   */
  void prepare(Schedule.Step step) throws Exception {
    ChaosSpark.awaitExecutors(session, shape);
    StoreModel model = model(step);
    boolean exists = exists(step);
    if (exists != model.exists()) {
      throw new Contradiction(
          "store %s %s, its model has %s"
              .formatted(name(step), exists ? "exists" : "does not exist", model.possible()));
    }
    Random choose = new Random(~step.seed());
    if (step.operation() == OperationKind.LOAD) {
      if (exists) {
        drop(step);
      }
      return;
    }
    if (!exists || model.current().rows() > MAX_APPENDED_ROWS) {
      if (exists) {
        drop(step);
      }
      load(step, choose);
    }
    switch (step.operation()) {
      case QUERY, PYTHON, REVOKE -> open(step).repair();
      case RESTORE -> {
        if (!dumps.containsKey(name(step))) {
          dump(step, choose);
        }
      }
      default -> {}
    }
  }

  private boolean exists(Schedule.Step step) {
    return DDStores.list(session).stream().anyMatch(store -> store.name().equals(name(step)));
  }

  /** Performs the operation; returns a finding about what it read, if there is one. */
  Optional<String> perform(Schedule.Step step) throws Exception {
    Random choose = new Random(step.seed());
    switch (step.operation()) {
      case LOAD -> load(step, choose);
      case APPEND -> append(step, choose);
      case REPLACE -> replace(step, choose);
      case REPAIR -> repair(step);
      case DROP -> drop(step);
      case DUMP -> dump(step, choose);
      case RESTORE -> restore(step, choose);
      case QUERY -> {
        return query(step, choose);
      }
      case RUN -> {
        return run(step, new RowChecks.RandomReads(possible(step), step.seed(), 5, 4));
      }
      case EPOCH -> {
        return run(step, new RowChecks.Epoch(possible(step), step.seed()));
      }
      case TRANSPORT -> {
        return transport(choose);
      }
      case PYTHON -> {
        return python(step, choose);
      }
      case REVOKE -> {
        return revoke(step);
      }
    }
    return Optional.empty();
  }

  private List<Version> possible(Schedule.Step step) {
    return model(step).possible();
  }

  /** A write of a store. */
  @FunctionalInterface
  private interface Write {
    void run() throws Exception;
  }

  private void write(Schedule.Step step, Version after, Write write) throws Exception {
    try {
      write.run();
      model(step).written(after);
    } catch (Exception e) {
      model(step).failed(after);
      throw e;
    }
  }

  private void load(Schedule.Step step, Random choose) throws Exception {
    Version.Piece piece = piece(choose);
    StoreSpec spec = spec(piece.frame(session), choose);
    write(step, Version.of(piece), () -> spec.load(name(step)));
  }

  private void append(Schedule.Step step, Random choose) throws Exception {
    Version.Piece piece = piece(choose);
    settle(step);
    Version after = model(step).current().with(piece);
    write(step, after, () -> open(step).append(piece.frame(session)));
  }

  /** Decides a write in doubt before another one, whose version would depend on it. */
  private void settle(Schedule.Step step) {
    StoreModel model = model(step);
    if (model.possible().size() > 1) {
      ResidentStore store = open(step);
      Observation found = new Observation(model.possible());
      found.number("rows", Version::rows, store.rows());
      // Rows tell the versions apart, unless both have the same number.
      if (found.explained().size() == 1 && !found.explained().contains(model.current())) {
        throw new Contradiction(
            "a write of %s that threw is in force: %d rows".formatted(name(step), store.rows()));
      }
      model.written(model.current());
    }
  }

  private void replace(Schedule.Step step, Random choose) throws Exception {
    Version.Piece piece = piece(choose);
    write(step, Version.of(piece), () -> open(step).replace(piece.frame(session)));
  }

  /** Repairs what the store lost with the executor that is killed before each repair. */
  private void repair(Schedule.Step step) throws InterruptedException {
    ResidentStore store = open(step);
    for (int i = 0; i < LOSS_POLLS && !isLost(store); i++) {
      Thread.sleep(LOSS_POLL_MS);
    }
    store.repair();
  }

  private static boolean isLost(ResidentStore store) {
    return store.shards().stream().anyMatch(ResidentShard::isLost);
  }

  private void drop(Schedule.Step step) {
    open(step).drop();
    model(step).dropped();
  }

  /**
   * Dumps to a new directory, or over the last dump; if that throws, the last dump must be intact.
   */
  private void dump(Schedule.Step step, Random choose) {
    settle(step);
    Dump last = dumps.get(name(step));
    Path path =
        last == null || last.isInUse() || choose.nextBoolean()
            ? directory.resolve("dump-" + step.number())
            : last.path();
    open(step).dump(path.toUri().toString(), DumpMode.OVERWRITE);
    dumps.put(name(step), new Dump(path, model(step).current(), false));
  }

  private void restore(Schedule.Step step, Random choose) throws Exception {
    int[] ranks = ranks(choose);
    Dump dump = dumps.get(name(step));
    dumps.put(name(step), new Dump(dump.path(), dump.version(), true));
    write(
        step,
        dump.version(),
        () ->
            DDStores.restore(session, dump.path().toUri().toString())
                .ranks(ranks[0])
                .width(ranks[1])
                .replace(name(step)));
  }

  private Optional<String> observed(Schedule.Step step, Observation found) {
    return model(step).observed(found);
  }

  private Optional<String> run(Schedule.Step step, RankTask<Observation> task) {
    Observation all = new Observation(possible(step));
    open(step).run(task).forEach(all::add);
    return observed(step, all);
  }

  private Optional<String> transport(Random choose) {
    Version.Piece piece = piece(choose);
    String transport = transports.get(choose.nextInt(transports.size()));
    List<Version> versions = List.of(Version.of(piece));
    Observation all = new Observation(versions);
    DDStores.from(piece.frame(session))
        .field("x", DType.FLOAT32, 2)
        .ranks(shape.executors())
        .transport(transport)
        .shortcut(false)
        .run(new RowChecks.RandomReads(versions, choose.nextLong(), 5, 4))
        .forEach(all::add);
    return all.explained().isEmpty()
        ? Optional.of("transport %s: %s".formatted(transport, all))
        : Optional.empty();
  }

  private Optional<String> query(Schedule.Step step, Random choose) {
    Observation found = new Observation(possible(step));
    long rows = open(step).rows();
    long from = rows == 0 ? 0 : choose.nextInt((int) rows);
    long to = Math.min(rows, from + 1 + choose.nextInt(MAX_ROWS));
    String table = "ddstore.`%s`".formatted(name(step));
    String range = "__index >= %d and __index < %d".formatted(from, to);
    Row sums =
        session
            .sql(
                "select count(*), coalesce(sum(value), 0) from %s where %s".formatted(table, range))
            .head();
    found.number(
        "count", version -> Math.max(0, Math.min(to, version.rows()) - from), sums.getLong(0));
    found.number("sum", version -> version.sum(from, to), sums.getLong(1));
    List<Row> selected =
        session
            .sql(
                "select __index, content, position, value, x, text from %s where %s"
                    .formatted(table, range))
            .collectAsList();
    found.number(
        "selected rows",
        version -> Math.max(0, Math.min(to, version.rows()) - from),
        selected.size());
    for (Row row : selected) {
      List<Float> x = row.getList(4);
      found.row(
          new Version.Read(
              row.getLong(0),
              row.getLong(1),
              row.getLong(2),
              row.getLong(3),
              x.get(0),
              x.get(1),
              row.getString(5)));
    }
    return observed(step, found);
  }

  private Optional<String> revoke(Schedule.Step step) throws IOException {
    String label = "revoke-" + step.number();
    ResidentStore store = open(step);
    StoreHandle handle = StoreHandle.fromJson(store.grant(label, Duration.ofMinutes(5)).toJson());
    Observation found;
    try (StoreReader reader = handle.attach()) {
      found = RowChecks.random(reader.rows(), possible(step), step.seed(), 4);
    } finally {
      store.revoke(label);
    }
    boolean isRevoked =
        store.grants().stream().anyMatch(grant -> grant.label().equals(label) && grant.isRevoked());
    if (!isRevoked) {
      return Optional.of("grant %s is not revoked: %s".formatted(label, store.grants()));
    }
    return observed(step, found);
  }

  private Optional<String> python(Schedule.Step step, Random choose) throws Exception {
    if (python.isEmpty()) {
      return Optional.empty();
    }
    Path handle = directory.resolve("handle-" + step.number() + ".json");
    ResidentStore store = open(step);
    store.grant("python", Duration.ofMinutes(5)).save(handle);
    PythonReader reader = new PythonReader(python.get(), handle);
    Observation found = new Observation(possible(step));
    reader.read(choose.nextInt(1 << 30), Duration.ofSeconds(MAX_PYTHON_SECONDS), found);
    return observed(step, found);
  }

  /** Drops all stores. */
  void close() {
    DDStores.list(session).forEach(ResidentStore::drop);
  }
}
