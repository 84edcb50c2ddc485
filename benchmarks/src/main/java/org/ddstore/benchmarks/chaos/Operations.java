// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.chaos;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
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

/** The operations of a round, with the model of its stores. Used by one thread. */
final class Operations {
  private static final int MIN_ROWS = 500;
  private static final int MAX_ROWS = 4000;
  private static final int MAX_APPENDED_ROWS = 20_000;
  private static final int MAX_PYTHON_SECONDS = 60;
  private static final long BESIDE = 0x626573696465L;

  /** Operations after which readers of the version before get an error. */
  private static final Set<OperationKind> ENDS_READS =
      Set.of(OperationKind.DROP, OperationKind.REPLACE, OperationKind.RESTORE);

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

  private ResidentStore open(String store) {
    return DDStores.open(session, store);
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
      case QUERY, PYTHON, REVOKE -> open(name(step)).repair();
      case APPEND, REPLACE, DUMP -> settle(step);
      case RESTORE -> {
        settle(step);
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
      case RUN -> {
        Observation all = observation(model(step).possible());
        RankTask<Observation> reads = new RowChecks.RandomReads(all.copy(), step.seed(), 5, 4);
        open(name(step)).run(reads).forEach(all::add);
        return model(step).observed(all);
      }
      case EPOCH -> {
        Observation all = observation(model(step).possible());
        open(name(step)).run(new RowChecks.Epoch(all.copy(), step.seed())).forEach(all::add);
        all.visitedAll(0, Long.MAX_VALUE);
        return model(step).observed(all);
      }
      case TRANSPORT -> {
        return transport(choose);
      }
      case QUERY, PYTHON, REVOKE -> {
        String label = "" + step.number();
        for (Observation found :
            read(step.operation(), name(step), label, model(step).possible(), choose)) {
          Optional<String> problem = model(step).observed(found);
          if (problem.isPresent()) {
            return problem;
          }
        }
      }
    }
    return Optional.empty();
  }

  /** Reads as an application does at any time; each observation may find another version. */
  private List<Observation> read(
      OperationKind operation, String store, String label, List<Version> versions, Random choose)
      throws Exception {
    return switch (operation) {
      case QUERY -> query(store, versions, choose);
      case PYTHON -> python(store, label, versions, choose);
      case REVOKE -> revoke(store, label, versions, choose);
      case REPAIR -> {
        open(store).repair();
        yield List.of();
      }
      default -> throw new IllegalArgumentException("not a read: " + operation);
    };
  }

  private Observation observation(List<Version> versions) {
    return new Observation(versions, directory.toString());
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
    Version after = model(step).current().with(piece);
    write(step, after, () -> open(name(step)).append(piece.frame(session)));
  }

  /** Decides a write in doubt before another one, whose version would depend on it. */
  private void settle(Schedule.Step step) {
    StoreModel model = model(step);
    if (model.possible().size() > 1) {
      open(name(step)).repair();
      Observation found = observation(model.possible());
      select(name(step), 0, 1, found);
      found.number("rows", Version::rows, open(name(step)).rows());
      model
          .settled(found)
          .ifPresent(
              problem -> {
                throw new Contradiction(problem);
              });
    }
  }

  private void replace(Schedule.Step step, Random choose) throws Exception {
    Version.Piece piece = piece(choose);
    write(step, Version.of(piece), () -> open(name(step)).replace(piece.frame(session)));
  }

  /** Repairs what the store lost with the executor that is killed before each repair. */
  private void repair(Schedule.Step step) throws InterruptedException {
    ResidentStore store = open(name(step));
    for (int i = 0; i < LOSS_POLLS && !isLost(store); i++) {
      Thread.sleep(LOSS_POLL_MS);
    }
    store.repair();
  }

  private static boolean isLost(ResidentStore store) {
    return store.shards().stream().anyMatch(ResidentShard::isLost);
  }

  private void drop(Schedule.Step step) {
    open(name(step)).drop();
    model(step).dropped();
  }

  /**
   * Dumps to a new directory, or over the last dump; if that throws, the last dump must be intact.
   */
  private void dump(Schedule.Step step, Random choose) {
    Dump last = dumps.get(name(step));
    Path path =
        last == null || last.isInUse() || choose.nextBoolean()
            ? directory.resolve("dump-" + step.number())
            : last.path();
    open(name(step)).dump(path.toUri().toString(), DumpMode.OVERWRITE);
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

  private Optional<String> transport(Random choose) {
    Version.Piece piece = piece(choose);
    String transport = transports.get(choose.nextInt(transports.size()));
    Observation all = observation(List.of(Version.of(piece)));
    DDStores.from(piece.frame(session))
        .field("x", DType.FLOAT32, 2)
        .ranks(shape.executors())
        .transport(transport)
        .shortcut(false)
        .run(new RowChecks.RandomReads(all.copy(), choose.nextLong(), 5, 4))
        .forEach(all::add);
    return all.explained().isEmpty()
        ? Optional.of("transport %s: %s".formatted(transport, all))
        : Optional.empty();
  }

  private List<Observation> query(String store, List<Version> versions, Random choose) {
    long rows = versions.get(0).rows();
    long from = rows == 0 ? 0 : choose.nextInt((int) rows);
    long to = from + 1 + choose.nextInt(MAX_ROWS);
    String table = "ddstore.`%s`".formatted(store);
    Observation counted = observation(versions);
    counted.number(
        "count", Version::rows, session.sql("select count(*) from " + table).head().getLong(0));
    Observation summed = observation(versions);
    Row sums =
        session
            .sql(
                "select count(*), coalesce(sum(value), 0) from %s where %s"
                    .formatted(table, range(from, to)))
            .head();
    summed.number("count", version -> rows(version, from, to), sums.getLong(0));
    summed.number("sum", version -> version.sum(from, to), sums.getLong(1));
    Observation selected = observation(versions);
    select(store, from, to, selected);
    return List.of(counted, summed, selected);
  }

  private static String range(long from, long to) {
    return "__index >= %d and __index < %d".formatted(from, to);
  }

  /** Returns the number of rows that a version has in a range. */
  private static long rows(Version version, long from, long to) {
    return Math.max(0, Math.min(to, version.rows()) - from);
  }

  private void select(String store, long from, long to, Observation found) {
    List<Row> selected =
        session
            .sql(
                "select __index, content, position, value, x, text from ddstore.`%s` where %s"
                    .formatted(store, range(from, to)))
            .collectAsList();
    found.number("selected rows", version -> rows(version, from, to), selected.size());
    for (Row row : selected) {
      List<Float> x = row.getList(4);
      found.rowOnce(
          new Version.Read(
              row.getLong(0),
              row.getLong(1),
              row.getLong(2),
              row.getLong(3),
              x.get(0),
              x.get(1),
              row.getString(5)));
    }
    found.visitedAll(from, to);
  }

  private List<Observation> revoke(
      String name, String number, List<Version> versions, Random choose) throws IOException {
    String label = "revoke-" + number;
    ResidentStore store = open(name);
    StoreHandle handle = StoreHandle.fromJson(store.grant(label, Duration.ofMinutes(5)).toJson());
    Observation found = observation(versions);
    try (StoreReader reader = handle.attach()) {
      RowChecks.random(reader.rows(), choose.nextLong(), 4, found);
    } finally {
      store.revoke(label);
    }
    boolean isRevoked =
        store.grants().stream().anyMatch(grant -> grant.label().equals(label) && grant.isRevoked());
    if (!isRevoked) {
      found.wrong("grant %s is not revoked: %s".formatted(label, store.grants()));
    }
    return List.of(found);
  }

  private List<Observation> python(
      String store, String label, List<Version> versions, Random choose) throws Exception {
    if (python.isEmpty()) {
      return List.of();
    }
    Path handle = directory.resolve("handle-%s.json".formatted(label));
    open(store).grant("python-" + label, Duration.ofMinutes(5)).save(handle);
    PythonReader reader = new PythonReader(python.get(), handle);
    Observation found = observation(versions);
    reader.read(choose.nextInt(1 << 30), Duration.ofSeconds(MAX_PYTHON_SECONDS), found);
    return List.of(found);
  }

  /**
   * Returns reads that another thread makes while the step is performed, of the store of the step
   * or of another one; empty if there is no store to read.
   */
  Optional<ReadsBeside> beside(Schedule.Step step) {
    Random choose = new Random(step.seed() ^ BESIDE);
    List<String> stores = new ArrayList<>();
    models.forEach(
        (store, model) -> {
          if (model.exists()) {
            stores.add(store);
          }
        });
    if (stores.isEmpty()) {
      return Optional.empty();
    }
    String store =
        stores.contains(name(step)) && choose.nextBoolean()
            ? name(step)
            : stores.get(choose.nextInt(stores.size()));
    if (step.operation() != OperationKind.REPAIR) {
      open(store).repair();
    }
    List<Version> versions = new ArrayList<>(models.get(store).possible());
    boolean isWritten = store.equals(name(step));
    Optional<Version> after = isWritten ? after(step) : Optional.empty();
    after.ifPresent(versions::add);
    boolean mayFail = isWritten && ENDS_READS.contains(step.operation());
    return Optional.of(new ReadsBeside(this::read, store, step, versions, after, mayFail, choose));
  }

  /** Returns the version after a step that writes. */
  private Optional<Version> after(Schedule.Step step) {
    Version.Piece piece = piece(new Random(step.seed()));
    return switch (step.operation()) {
      case APPEND -> Optional.of(model(step).current().with(piece));
      case REPLACE -> Optional.of(Version.of(piece));
      case RESTORE -> Optional.of(dumps.get(name(step)).version());
      default -> Optional.empty();
    };
  }

  /** Drops all stores. */
  void close() {
    DDStores.list(session).forEach(ResidentStore::drop);
  }
}
