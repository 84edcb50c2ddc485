// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.ddstore.spark.dump.FaultyFileSystem;
import org.ddstore.spark.types.DumpMode;

/**
 * Two applications: the first dumps a store and is killed during the dump that would replace it
 * ({@code dump}), the second restores the store on several numbers of ranks ({@code restore}).
 * Arguments: which one, and a directory. Started by {@link DumpApplicationTest}.
 */
final class DumpApplication {
  private static final int ROWS = 500;

  private DumpApplication() {}

  public static void main(String[] arguments) {
    Path directory = Path.of(arguments[1]);
    Evidence evidence = new Evidence(directory);
    String dump = directory.resolve("dump").toString();
    try (TestCluster cluster = TestCluster.start(2, 2, 1024)) {
      SparkSession spark = cluster.session();
      if (arguments[0].equals("dump")) {
        ResidentStore store =
            DDStores.from(
                    spark
                        .range(ROWS)
                        .selectExpr("id", "repeat(concat('t', id), int(id % 7)) as text"))
                .ranks(2)
                .load("train");
        evidence.note("dumped", store.dump(dump).digest());
        store.append(store.sample(10));
        spark.conf().set(FaultyFileSystem.CLASS_KEY, FaultyFileSystem.class.getName());
        spark.conf().set(FaultyFileSystem.STALLED_KEY, "rank-00001");
        store.dump("faulty://" + dump, DumpMode.OVERWRITE); // the test kills this process
        throw new AssertionError("the dump ended");
      }
      for (int ranks : new int[] {1, 3, 4}) {
        ResidentStore store = DDStores.restore(spark, dump).ranks(ranks).replace("train");
        check(PackedRecords.of(store));
        evidence.note("restored-" + ranks, store.ranks() + " " + store.digest());
      }
      Row sums = spark.sql("select count(*), sum(id) from ddstore.train").first();
      evidence.note("sums", sums.getLong(0) + " " + sums.getLong(1));
      DDStores.list(spark).forEach(ResidentStore::drop);
    }
  }

  /** Checks the records against bytes that are made here. */
  private static void check(List<byte[]> records) {
    if (records.size() != ROWS) {
      throw new AssertionError("%d records".formatted(records.size()));
    }
    for (int i = 0; i < ROWS; i++) {
      byte[] text = ("t" + i).repeat(i % 7).getBytes(StandardCharsets.UTF_8);
      ByteBuffer expected =
          ByteBuffer.allocate(Long.BYTES + Integer.BYTES + text.length)
              .order(ByteOrder.LITTLE_ENDIAN)
              .putLong(i)
              .putInt(text.length)
              .put(text);
      if (!Arrays.equals(expected.array(), records.get(i))) {
        throw new AssertionError("record %d: %s".formatted(i, Arrays.toString(records.get(i))));
      }
    }
  }
}
