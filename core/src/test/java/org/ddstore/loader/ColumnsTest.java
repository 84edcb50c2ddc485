// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.ddstore.DDStore;
import org.ddstore.ShardWriter;
import org.ddstore.StoreOptions;
import org.ddstore.Variable;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.LocalGroup;
import org.ddstore.contract.Leaks;
import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.CoverageReceipt;
import org.ddstore.sampling.EpochState;
import org.ddstore.sampling.RowSubset;
import org.ddstore.sampling.Samplers;
import org.ddstore.sampling.WorldRank;
import org.ddstore.types.Backing;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.RankFailedException;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Columns of a store, compared with arrays that are computed from the row numbers. */
@Timeout(120)
class ColumnsTest {
  private static final int ROWS = 20_011; // more than two batches of one rank
  private static final StoreOptions OPTIONS = StoreOptions.defaults().backing(Backing.DIRECT);
  private static final String[] KINDS = {"T cell", "B cell", "", "ß 😀"};
  private static final Schema SCHEMA =
      Schema.of(
          Field.fixed("weight", DType.FLOAT32),
          Field.fixed("share", DType.FLOAT64),
          Field.fixed("half", DType.FLOAT16),
          Field.fixed("brain", DType.BFLOAT16),
          Field.fixed("level", DType.UINT8),
          Field.fixed("cost", DType.INT64),
          Field.fixed("isTrain", DType.BOOL),
          Field.string("kind"),
          Field.ragged("points", DType.FLOAT32, 2),
          Field.fixed("image", DType.UINT8, 2, 2),
          Field.fixed("faulty", DType.FLOAT64),
          Field.fixed("debt", DType.INT32));

  private interface Work<T> {
    T run(Variable rows, Communicator communicator) throws Exception;
  }

  private static float weight(int row) {
    return row % 13 / 4f;
  }

  private static double share(int row) {
    return row % 7 == 3 ? 0 : 1.0 / (1 + row);
  }

  private static int level(int row) {
    return 250 - row % 3 * 40;
  }

  private static long cost(int row) {
    return (1L << 40) + row;
  }

  private static boolean isTrain(int row) {
    return row * 2654435761L % 10 < 8;
  }

  private static String kind(int row) {
    return KINDS[row * 7 % 11 % 4];
  }

  private static int points(int row) {
    return row % 9;
  }

  private static void append(ShardWriter shard, int row) {
    shard.append(
        weight(row),
        share(row),
        (short) (row % 2 == 0 ? 0x3C00 : 0x3800), // 1 and 0.5
        (short) (Float.floatToIntBits(weight(row)) >> 16),
        level(row),
        cost(row),
        isTrain(row),
        kind(row),
        new float[2 * points(row)],
        new byte[4],
        row == 15_000 ? Double.NaN : 1.0,
        row == 9 ? -3 : 1);
  }

  private static <T> List<Future<T>> run(int world, Work<T> work) throws Exception {
    Leaks leaks = new Leaks(Path.of("/nowhere-but-here"));
    List<Communicator> group = LocalGroup.create(world, Duration.ofMinutes(1));
    ExecutorService threads = Executors.newFixedThreadPool(world);
    List<Future<T>> results = new ArrayList<>();
    try {
      for (int rank = 0; rank < world; rank++) {
        int r = rank;
        results.add(
            threads.submit(
                () -> {
                  int first = ROWS * r * r / (world * world);
                  int end = ROWS * (r + 1) * (r + 1) / (world * world);
                  try (Communicator mine = group.get(r);
                      DDStore store = DDStore.open(mine, OPTIONS)) {
                    ShardWriter shard = ShardWriter.create(SCHEMA, OPTIONS);
                    for (int row = first; row < end; row++) {
                      append(shard, row);
                    }
                    T result = work.run(store.add("rows", shard), mine);
                    mine.barrier(); // the others read this rank's rows
                    return result;
                  }
                }));
      }
    } finally {
      threads.shutdown();
      assertThat(threads.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
    }
    leaks.assertNothingHeld();
    return results;
  }

  private static <T> void assertAll(int world, Function<Columns, T> column, T expected)
      throws Exception {
    for (Future<T> rank : run(world, (rows, group) -> column.apply(Columns.of(rows, group)))) {
      assertThat(rank.get()).isEqualTo(expected);
    }
  }

  private static IntStream rows() {
    return IntStream.range(0, ROWS);
  }

  private static RowSubset where(IntPredicate condition) {
    return RowSubset.matching(ROWS, row -> condition.test((int) row));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 5})
  void equalTheArraysThatAreComputed(int world) throws Exception {
    List<Future<List<Object>>> ranks =
        run(
            world,
            (variable, group) -> {
              Columns columns = Columns.of(variable, group);
              return List.of(
                  columns.weights("weight"),
                  columns.weights("share"),
                  columns.weights("half"),
                  columns.weights("brain"),
                  columns.weights("level"),
                  columns.costs("level"),
                  columns.costs("cost"),
                  columns.lengths("points"),
                  columns.lengths("kind"));
            });
    List<Object> expected =
        List.of(
            rows().mapToDouble(ColumnsTest::weight).toArray(),
            rows().mapToDouble(ColumnsTest::share).toArray(),
            rows().mapToDouble(row -> row % 2 == 0 ? 1 : 0.5).toArray(),
            rows().mapToDouble(ColumnsTest::weight).toArray(),
            rows().mapToDouble(ColumnsTest::level).toArray(),
            rows().mapToLong(ColumnsTest::level).toArray(),
            rows().mapToLong(ColumnsTest::cost).toArray(),
            rows().mapToLong(ColumnsTest::points).toArray(),
            rows().mapToLong(row -> kind(row).getBytes(UTF_8).length).toArray());
    for (Future<List<Object>> rank : ranks) {
      assertThat(rank.get()).containsExactlyElementsOf(expected);
    }
  }

  @Test
  void halfPrecisionIsReadExactly() {
    assertThat(ColumnReader.ofHalf((short) 0x3C00)).isEqualTo(1);
    assertThat(ColumnReader.ofHalf((short) 0xC000)).isEqualTo(-2);
    assertThat(ColumnReader.ofHalf((short) 0x7BFF)).isEqualTo(65_504);
    assertThat(ColumnReader.ofHalf((short) 0x0001)).isEqualTo(0x1p-24f);
    assertThat(ColumnReader.ofHalf((short) 0x3555)).isEqualTo(0.33325195f);
    assertThat(ColumnReader.ofHalf((short) 0xFC00)).isEqualTo(Float.NEGATIVE_INFINITY);
    assertThat(ColumnReader.ofHalf((short) 0x7E00)).isNaN();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void classesAreNumberedByValue(int world) throws Exception {
    List<String> kinds = Arrays.stream(KINDS).sorted().toList();
    assertAll(world, columns -> columns.classes("kind").names(), kinds);
    assertAll(
        world,
        columns -> Arrays.toString(columns.classes("kind").labels()),
        Arrays.toString(rows().map(row -> kinds.indexOf(kind(row))).toArray()));
    assertAll(world, columns -> columns.classes("level").names(), List.of("170", "210", "250"));
    assertAll(
        world,
        columns -> Arrays.toString(columns.classes("level").labels()),
        Arrays.toString(rows().map(row -> 2 - row % 3).toArray()));
    assertAll(world, columns -> columns.classes("isTrain").names(), List.of("0", "1"));
    assertAll(world, columns -> columns.classes("level").label("210"), 1);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void subsetsHaveTheRowsOfTheirCondition(int world) throws Exception {
    RowSubset train = where(ColumnsTest::isTrain);
    assertAll(world, columns -> columns.where("isTrain"), train);
    assertAll(world, columns -> columns.whereNot("isTrain"), train.complement(ROWS));
    assertAll(world, columns -> columns.where("isTrain", 0), train.complement(ROWS));
    assertAll(world, columns -> columns.where("level", 210), where(row -> level(row) == 210));
    assertAll(world, columns -> columns.whereNot("level", 210), where(row -> level(row) != 210));
    assertAll(world, columns -> columns.where("kind", "ß 😀"), where(r -> kind(r).equals("ß 😀")));
    assertAll(world, columns -> columns.whereNot("kind", ""), where(r -> !kind(r).isEmpty()));
    assertAll(world, columns -> columns.where("kind", "T-cell"), RowSubset.ranges());
    assertAll(world, c -> c.where("weight", w -> w > 1.5), where(row -> weight(row) > 1.5));
    assertAll(world, c -> c.where("faulty", Double::isNaN), RowSubset.range(15_000, 15_001));
  }

  private static void assertFails(Function<Columns, Object> column, String message)
      throws Exception {
    int own = 0;
    for (Future<Object> rank :
        run(
            3,
            (rows, group) -> {
              try {
                return column.apply(Columns.of(rows, group));
              } finally {
                assertThat(Columns.of(rows, group).where("level", 3).size()).as("after").isZero();
              }
            })) {
      try {
        throw new AssertionError("no failure: " + rank.get());
      } catch (ExecutionException e) {
        if (!(e.getCause() instanceof RankFailedException)) {
          assertThat(e.getCause()).isInstanceOf(IllegalArgumentException.class);
          assertThat(e.getCause()).hasMessage(message);
          own++;
        }
        assertThat(e.getCause()).hasMessageContaining(message);
      }
    }
    assertThat(own).as("ranks that name the reason themselves").isPositive();
  }

  @Test
  void errorsReachAllRanksAndNameFieldRowAndValue() throws Exception {
    assertFails(
        columns -> columns.weights("faulty"),
        "weights(\"faulty\"): row 15,000 of \"rows\" has the value NaN, legal: 0 or more, and finite");
    assertFails(
        columns -> columns.weights("debt"),
        "weights(\"debt\"): row 9 of \"rows\" has the value -3.0, legal: 0 or more, and finite");
    assertFails(
        columns -> columns.costs("debt"),
        "costs(\"debt\"): row 9 of \"rows\" has the value -3, legal: 0 or more");
    assertFails(
        columns -> columns.costs("weight"),
        "costs(\"weight\"): weight float32 is not one integer or truth value per row");
    assertFails(
        columns -> columns.weights("image"),
        "weights(\"image\"): image uint8[2, 2] is not one number per row");
    assertFails(
        columns -> columns.lengths("cost"),
        "lengths(\"cost\"): cost int64 is not a ragged field, text or bytes");
    assertFails(
        columns -> columns.classes("weight"),
        "classes(\"weight\"): weight float32 is not one integer or truth value per row");
    assertFails(
        columns -> columns.where("level", "210"),
        "where(\"level\", \"210\"): level uint8 is not text");
  }

  @Test
  void anUnknownFieldIsNamedWithThoseThatExist() {
    for (Function<Columns, Object> column :
        List.<Function<Columns, Object>>of(
            columns -> columns.weights("wait"),
            columns -> columns.classes("wait"),
            columns -> columns.where("wait"))) {
      assertThatThrownBy(
              () -> run(2, (rows, group) -> column.apply(Columns.of(rows, group))).get(1).get())
          .hasRootCauseInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("no field \"wait\": choose one of [weight float32");
    }
  }

  @Test
  void tooManyClassesAndAFailingConditionReachAllRanks() throws Exception {
    assertFails(
        columns ->
            columns.where(
                "cost",
                cost -> {
                  if (cost == cost(77)) {
                    throw new IllegalArgumentException("condition failed");
                  }
                  return true;
                }),
        "condition failed");
    assertThatThrownBy(
            () ->
                run(2, (rows, group) -> Columns.of(rows, group).classes("kind").label("X"))
                    .get(0)
                    .get())
        .hasMessageContaining("no row has the class \"X\": RowClasses[20,011 rows, 4 classes: ");
  }

  /** One store, two loaders: training rows by a column, the others for validation. */
  @Test
  void loadersOfTrainingAndValidationRowsDivideTheStore() throws Exception {
    RowSubset expected = where(ColumnsTest::isTrain);
    for (Future<List<String>> rank :
        run(
            3,
            (rows, group) -> {
              WorldRank place = new WorldRank(group.rank(), group.size());
              RowSubset train = Columns.of(rows, group).where("isTrain");
              List<String> receipts = new ArrayList<>();
              for (RowSubset subset : List.of(train, train.complement(rows.rows()))) {
                BatchSampler sampler =
                    Samplers.shuffled(5).within(subset).globalBatchSize(512).everySample();
                try (Loader loader =
                    Loader.open(rows, sampler, place, LoaderOptions.defaults().fields("cost"))) {
                  for (LoadedBatch batch : loader.epoch(0)) {
                    for (int i = 0; i < batch.rows(); i++) {
                      assertThat(subset.contains(batch.row(i))).isTrue();
                      assertThat(batch.field("cost").getLong(i))
                          .isEqualTo(cost((int) batch.row(i)));
                    }
                  }
                  CoverageReceipt receipt = loader.receipt(group);
                  assertThat(receipt.isExact()).isTrue();
                  receipts.add(receipt.toString());
                }
              }
              return receipts;
            })) {
      assertThat(rank.get())
          .containsExactly(
              "%1$,d samples, each exactly once; %1$,d delivered, 0 dropped, 0 padded"
                  .formatted(expected.size()),
              "%1$,d samples, each exactly once; %1$,d delivered, 0 dropped, 0 padded"
                  .formatted(ROWS - expected.size()));
    }
  }

  @Test
  void aStateOfAnotherSubsetIsRefused() throws Exception {
    BatchSampler sampler = Samplers.shuffled(5).globalBatchSize(64);
    Future<EpochState> state =
        run(
                1,
                (rows, group) -> {
                  try (Loader loader = open(rows, sampler.within(RowSubset.range(0, 8000)))) {
                    loader.epoch(3).next();
                    EpochState saved = EpochState.parse(loader.state().toJson());
                    assertThat(loader.resume(saved).remaining()).isEqualTo(8000 / 64 - 1);
                    try (Loader other = open(rows, sampler.within(RowSubset.range(8000, ROWS)))) {
                      assertThatThrownBy(() -> other.resume(saved))
                          .isInstanceOf(IllegalArgumentException.class)
                          .hasMessage(
                              "state mismatch: sampling is within(0-8000) shuffled(5)/64 in the state, within(8000-20011) shuffled(5)/64 here");
                    }
                    return saved;
                  }
                })
            .get(0);
    assertThat(state.get().sampling()).isEqualTo("within(0-8000) shuffled(5)/64");
    assertThat(state.get().rows()).isEqualTo(ROWS);
  }

  private static Loader open(Variable rows, BatchSampler sampler) {
    return Loader.open(rows, sampler, new WorldRank(0, 1), LoaderOptions.defaults().fields("cost"));
  }

  @Test
  void samplesOfColumnsEqualThoseOfArrays() throws Exception {
    long[] costs = rows().mapToLong(ColumnsTest::points).toArray();
    String expected =
        Samplers.costAware(1, 512, costs).describe(2)
            + Samplers.weighted(1, 9, rows().mapToDouble(ColumnsTest::share).toArray()).describe()
            + Samplers.classBalanced(1, rows().map(row -> 2 - row % 3).toArray()).describe();
    assertAll(
        2,
        columns ->
            Samplers.costAware(1, 512, columns.lengths("points")).describe(2)
                + Samplers.weighted(1, 9, columns.weights("share")).describe()
                + Samplers.classBalanced(1, columns.classes("level").labels()).describe(),
        expected);
  }
}
