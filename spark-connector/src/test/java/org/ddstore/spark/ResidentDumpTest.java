// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.ddstore.spark.dump.FaultyFileSystem;
import org.ddstore.spark.source.EveryType;
import org.ddstore.spark.source.PlainRows;
import org.ddstore.spark.types.DecimalForm;
import org.ddstore.spark.types.DumpException;
import org.ddstore.spark.types.DumpInfo;
import org.ddstore.spark.types.DumpMode;
import org.ddstore.spark.types.InvalidDumpException;
import org.ddstore.spark.types.InvalidDumpException.Problem;
import org.ddstore.types.Backing;
import org.ddstore.types.DType;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Dumps of stores of two executors of two slots, restored in the same application. */
@Tag("system")
@Timeout(300)
class ResidentDumpTest extends OnResidentCluster {
  private static final int COUNT = 300;
  private static final String PRICE =
      "cast(if(id % 5 = 0, null, id * 3) / 4 as decimal(9,2)) as price";

  private String path() {
    return directory.resolve("dump").toString();
  }

  private static SparkSession spark() {
    return cluster.session();
  }

  private static Dataset<Row> numbers(long from, long to) {
    return spark()
        .range(from, to, 1, 3)
        .selectExpr("id", "concat('number ', id) as text", "array(float(id), float(-id)) as x");
  }

  private static StoreSpec spec(long to) {
    return DDStores.from(numbers(0, to));
  }

  private static void assertSameRecords(List<byte[]> actual, List<byte[]> expected) {
    assertThat(actual).hasSameSizeAs(expected);
    for (int i = 0; i < expected.size(); i++) {
      assertThat(actual.get(i)).as("record %d", i).isEqualTo(expected.get(i));
    }
  }

  private List<Path> files(String name) throws IOException {
    if (!Files.exists(Path.of(path()))) {
      return List.of();
    }
    try (Stream<Path> all = Files.walk(Path.of(path()))) {
      return all.filter(Files::isRegularFile)
          .filter(file -> file.getFileName().toString().startsWith(name))
          .sorted()
          .toList();
    }
  }

  /** Rows that SQL reads, as plain values in the order of their index. */
  private static List<?> sql(String store) {
    return PlainRows.of(
        spark()
            .read()
            .format("ddstore")
            .option("indexColumn", "i")
            .load(store)
            .orderBy("i")
            .drop("i")
            .collectAsList());
  }

  @Test
  void everyTypeComesBackByteForByte() {
    Dataset<Row> rows = EveryType.frame(spark(), 101);
    rows.write()
        .format("ddstore")
        .options(EveryType.writeOptions())
        .option("ranks", 2)
        .option("orderBy", "id")
        .save("all");
    ResidentStore store = DDStores.open(spark(), "all");
    List<byte[]> records = PackedRecords.of(store);
    String digest = store.digest();

    DumpInfo info = store.dump(path());

    assertThat(info.digest()).isEqualTo(digest);
    assertThat(info.rows()).isEqualTo(101);
    assertThat(info.files()).as("a file for each rank").isEqualTo(2);
    assertThat(info.bytes()).isEqualTo(records.stream().mapToLong(record -> record.length).sum());
    store.drop();
    RestoreSpec restored = DDStores.restore(spark(), path());
    assertThat(restored.info()).isEqualTo(info);
    List<?> expected = PlainRows.of(rows.orderBy("id").collectAsList());
    ResidentStore again = restored.ranks(3).load("all");
    assertThat(again.ranks()).isEqualTo(3);
    assertThat(again.digest()).isEqualTo(digest);
    assertThat(again.schema()).isEqualTo(info.schema());
    assertThat(again.sourceSchema()).isEqualTo(store.sourceSchema());
    assertSameRecords(PackedRecords.of(again), records);
    assertThat(sql("all")).isEqualTo(expected);
  }

  @Test
  void appendedPartsCopiesAndEmptyShardsAreDumpedOnce() {
    ResidentStore store = spec(3).ranks(4).width(2).load("few");
    store.append(numbers(3, 4));
    store.append(numbers(4, 5));
    List<byte[]> records = PackedRecords.of(store);
    for (int manyParts : new int[] {3, 4}) {
      List<StoreDump.Range> ranges = new ArrayList<>();
      StoreDump.ranges(store.places().now(), manyParts).forEach(ranges::addAll);
      ranges.sort(Comparator.comparingLong(StoreDump.Range::firstRow));
      long next = 0;
      for (StoreDump.Range range : ranges) {
        assertThat(range.firstRow()).as("%s", ranges).isEqualTo(next);
        next += range.rows();
      }
      assertThat(next).as("%s", ranges).isEqualTo(5);
    }
    DumpInfo info = store.dump(path());
    assertThat(info.rows()).isEqualTo(5);
    assertThat(info.bytes()).isEqualTo(records.stream().mapToLong(record -> record.length).sum());

    ResidentStore again =
        DDStores.restore(spark(), path())
            .ranks(4)
            .width(2)
            .backing(Backing.DIRECT)
            .maxAttempts(2)
            .load("again");
    assertThat(again.digest()).isEqualTo(store.digest());
    assertThat(again.width()).isEqualTo(2);
    assertSameRecords(PackedRecords.of(again), records);
  }

  @Test
  void storeWithoutRowsIsRestored() {
    ResidentStore store = spec(0).ranks(2).load("none");
    DumpInfo info = store.dump(path());
    assertThat(info.rows()).isZero();
    assertThat(info.files()).isZero();
    ResidentStore again = DDStores.restore(spark(), path()).ranks(3).load("again");
    assertThat(again.rows()).isZero();
    assertThat(again.digest()).isEqualTo(store.digest());
    assertThat(sql("again")).isEmpty();
    again.append(numbers(0, 7));
    assertThat(again.rows()).isEqualTo(7);
    assertThatThrownBy(() -> again.dump(path(), DumpMode.OVERWRITE))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("store \"again\" was restored from the dump there");
    assertThatThrownBy(() -> store.dump(path(), DumpMode.OVERWRITE))
        .as("of another store")
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("store \"again\" was restored from the dump there");
    assertThat(DDStores.restore(spark(), path()).info()).isEqualTo(info);
  }

  @Test
  @Tag("slow")
  void appendsToARestoredStoreFollowTheOptionsOfTheFirst() {
    Dataset<Row> some =
        numbers(0, COUNT).selectExpr("id", "if(id % 3 = 0, null, float(id)) as y", "x", PRICE);
    StoreSpec options =
        DDStores.from(some)
            .ranks(2)
            .fillNulls("y", -1)
            .decimals(DecimalForm.INT64)
            .fillNulls("price", new BigDecimal("-0.25"))
            .field("id", DType.INT32)
            .field("x", DType.FLOAT64, 2)
            .orderBy("id");
    ResidentStore store = options.load("first");
    store.dump(path());
    ResidentStore again = DDStores.restore(spark(), path()).ranks(3).load("again");
    Dataset<Row> more =
        numbers(COUNT, COUNT + 50)
            .selectExpr("id", "if(id % 3 = 0, null, float(id)) as y", "x", PRICE)
            .orderBy(functions.col("id").desc());
    store.append(more);
    again.append(more);
    assertThat(again.digest()).isEqualTo(store.digest());
    assertThat(sql("again")).isEqualTo(sql("first"));
    assertThat(
            spark()
                .sql("select price from ddstore.again where __index >= " + COUNT)
                .orderBy("__index")
                .collectAsList())
        .isEqualTo(
            more.orderBy("id").selectExpr("coalesce(price, -0.25BD) as price").collectAsList());

    ResidentStore replaced = again.replace(more);
    assertThat(replaced.rows()).isEqualTo(50);
    assertThat(replaced.schema()).isEqualTo(store.schema());
  }

  @Test
  void anExistingDumpIsReplacedOnRequestOnly() throws IOException {
    ResidentStore store = spec(COUNT).ranks(2).load("first");
    store.dump(path());
    assertThatThrownBy(() -> store.dump(path()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(path())
        .hasMessageContaining("DumpMode.OVERWRITE");
    store.append(numbers(COUNT, COUNT + 9));
    DumpInfo second = store.dump(path(), DumpMode.OVERWRITE);
    assertThat(second.rows()).isEqualTo(COUNT + 9);
    assertThat(DDStores.restore(spark(), path()).info()).isEqualTo(second);
    assertThat(files("manifest")).hasSize(1);
    assertThat(files("rank")).hasSize(second.files());
    Files.writeString(directory.resolve("notes"), "not a dump");
    assertThatThrownBy(() -> store.dump(directory.toString(), DumpMode.OVERWRITE))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("not part of a dump");
  }

  private Problem problemOfRestore() {
    InvalidDumpException thrown =
        catchThrowableOfType(
            InvalidDumpException.class,
            () -> DDStores.restore(spark(), path()).ranks(2).load("restored"));
    assertThat(thrown).isNotNull();
    assertThat(thrown).hasMessageContaining(path());
    assertThat(DDStores.list(spark())).noneMatch(store -> store.name().equals("restored"));
    return thrown.problem();
  }

  @Test
  void damagedAndUnfinishedDumpsAreRefused() throws IOException {
    assertThat(problemOfRestore()).isEqualTo(Problem.MISSING);
    Files.createDirectory(Path.of(path()));
    assertThat(problemOfRestore()).isEqualTo(Problem.FOREIGN);
    ResidentStore store = spec(COUNT).ranks(2).load("first");
    store.dump(path());
    Path file = files("rank").get(1);
    byte[] good = Files.readAllBytes(file);
    byte[] bad = good.clone();
    bad[good.length / 2] = (byte) (bad[good.length / 2] ^ 4);
    Files.write(file, bad); // Hadoop finds this by its own checksum
    assertThat(problemOfRestore()).isEqualTo(Problem.DAMAGED);
    Files.delete(file.resolveSibling("." + file.getFileName() + ".crc"));
    assertThat(problemOfRestore()).as("without a checksum of Hadoop").isEqualTo(Problem.DAMAGED);
    Files.write(file, good, StandardOpenOption.TRUNCATE_EXISTING);
    assertThat(DDStores.restore(spark(), path()).ranks(2).load("restored").digest())
        .isEqualTo(store.digest());
    DDStores.open(spark(), "restored").drop();
    Files.write(file, Arrays.copyOf(good, good.length - 1));
    assertThat(problemOfRestore()).isEqualTo(Problem.DAMAGED);
    Files.delete(file);
    assertThat(problemOfRestore()).isEqualTo(Problem.DAMAGED);
    for (Path manifest : files("manifest")) {
      Files.delete(manifest);
    }
    assertThat(problemOfRestore()).isEqualTo(Problem.INCOMPLETE);
    store.dump(path(), DumpMode.OVERWRITE);
    assertThat(DDStores.restore(spark(), path()).info().digest()).isEqualTo(store.digest());
  }

  @Test
  void storageFailuresOnRanksAreTypedAndLeaveNothing() throws IOException {
    ResidentStore store = spec(COUNT).ranks(2).load("first");
    for (String[] fault :
        new String[][] {
          {FaultyFileSystem.ROOM_KEY, "1000", "No space left on device"},
          {FaultyFileSystem.ROOM_KEY, "0", "No space left on device"},
          {FaultyFileSystem.REFUSED_KEY, "rank-00001", "Permission denied"}
        }) {
      spark().conf().set(FaultyFileSystem.CLASS_KEY, FaultyFileSystem.class.getName());
      spark().conf().set("fs.faulty.impl.disable.cache", "true");
      spark().conf().set(fault[0], fault[1]);
      try {
        assertThatThrownBy(() -> store.dump("faulty://" + path()))
            .isInstanceOf(DumpException.class)
            .isNotInstanceOf(InvalidDumpException.class)
            .hasMessageContaining("rank-0000")
            .hasMessageContaining(fault[2]);
      } finally {
        spark().conf().unset(fault[0]);
      }
      assertThat(files("rank")).isEmpty();
      assertThat(files("manifest")).isEmpty();
      assertThat(Path.of(path())).as("the failed dump has created it").doesNotExist();
    }
    assertThat(store.run(context -> context.rows().rows())).containsOnly((long) COUNT);
    assertThat(store.dump(path()).digest()).isEqualTo(store.digest());
    spark().conf().unset(FaultyFileSystem.CLASS_KEY);
    spark().conf().unset("fs.faulty.impl.disable.cache");
  }

  @Test
  void misuseIsNamed() {
    ResidentStore store = spec(10).ranks(2).load("first");
    store.dump(path());
    assertThatThrownBy(() -> DDStores.restore(spark(), path()).load("first"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("already exists");
    assertThatThrownBy(() -> DDStores.restore(spark(), path()).ranks(4).width(3).load("x"))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(DDStores.restore(spark(), path()).ranks(4).toString())
        .contains(path(), "\"first\"", "ranks");
    assertThatThrownBy(() -> store.dump(" "))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("path of a dump is \" \"");
    store.drop();
    assertThatThrownBy(() -> store.dump(path() + "2")).isInstanceOf(IllegalStateException.class);
  }
}
