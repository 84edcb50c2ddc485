// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.LongStream;
import org.ddstore.Batch;
import org.ddstore.DDStore;
import org.ddstore.ReadStatistics;
import org.ddstore.Reader;
import org.ddstore.ShardWriter;
import org.ddstore.StoreInfo;
import org.ddstore.Tensor;
import org.ddstore.Variable;
import org.ddstore.layout.ExtentMap;
import org.ddstore.types.DType;
import org.ddstore.types.Plural;
import org.ddstore.types.ReadPath;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.Test;

/** Reports of a store: info, statistics, digest. */
interface ReportContract extends Contract {
  @Test
  default void infoReportsTheExtentAndPathOfEachRank() throws Exception {
    runWithStore(
        (rank, store) -> {
          assertThat(store.info()).isEqualTo(new StoreInfo(rank.rank(), rank.ranks(), List.of()));
          Variable x = Rows.addLongs(store, "x", 1);
          StoreInfo info = store.info();
          StoreInfo.VariableInfo variable = info.variables().get(0);
          assertThat(variable.schema()).isEqualTo(x.schema());
          assertThat(variable.rows()).isEqualTo(Rows.first(rank.ranks()));
          assertThat(variable.bytes()).isEqualTo(variable.rows() * 24);
          assertThat(variable.extents()).hasSize(rank.ranks());
          for (int r = 0; r < rank.ranks(); r++) {
            StoreInfo.Extent extent = variable.extents().get(r);
            assertThat(extent.rank()).isEqualTo(r);
            assertThat(extent.firstRow()).isEqualTo(Rows.first(r));
            assertThat(extent.rows()).isEqualTo(Rows.count(r));
            assertThat(extent.bytes()).isEqualTo(Rows.count(r) * 24L);
            assertThat(extent.process()).matches("[0-9]+@.+");
            assertThat(extent.path()).isEqualTo(rank.pathTo(r));
            assertThat(extent.reason()).isNotBlank();
          }
          assertThat(info.toString())
              .contains(
                  "store of %s, seen from rank %d"
                      .formatted(Plural.of(rank.ranks(), "rank"), rank.rank()))
              .contains(
                  "\"x\" Schema[x: int64[3]]: %s".formatted(Plural.of(variable.rows(), "row")));
        });
  }

  @Test
  default void statisticsCountCallsRowsAndBytesByPath() throws Exception {
    runWithStore(
        (rank, store) -> {
          Variable x = Rows.addLongs(store, "x", 1);
          long first = Rows.first(rank.rank());
          long count = Rows.count(rank.rank());
          long[] all = LongStream.range(0, x.rows()).toArray();
          try (Reader reader = x.reader()) {
            for (int i = 0; i < 3; i++) {
              reader.getBatch(all).close();
            }
            ReadPath ownPath = rank.pathTo(rank.rank());
            ReadStatistics own = reader.statistics(ownPath);
            ReadPath others = rank.pathTo(rank.rank() == 0 ? 1 : 0);
            long ownRows = others == ownPath ? 3 * x.rows() : 3 * count;
            assertThat(own.calls()).isEqualTo(ownRows > 0 ? 3 : 0);
            assertThat(own.rows()).isEqualTo(ownRows);
            assertThat(own.bytes()).isEqualTo(24 * ownRows);
            long rows = 0;
            for (ReadPath path : ReadPath.values()) {
              rows += reader.statistics(path).rows();
              assertThat(reader.statistics(path).microsPerRow()).isNotNegative();
            }
            assertThat(rows).isEqualTo(3 * x.rows());
          }
          long[] array = new long[Math.toIntExact(3 * count)];
          store.get("x", Tensor.wrap(array, count, 3), first);
          ReadPath ownPath = rank.pathTo(rank.rank());
          ReadStatistics total = store.statistics().get(ownPath.index());
          ReadStatistics ofVariable = x.statistics().get(ownPath.index());
          assertThat(total).isEqualTo(ofVariable);
          assertThat(total.path()).isEqualTo(ownPath);
          ReadPath others = rank.pathTo(rank.rank() == 0 ? 1 : 0);
          long ownRows = others == ownPath ? 3 * x.rows() : 3 * count;
          assertThat(total.rows()).isEqualTo(ownRows + count);
        });
  }

  @Test
  default void countsAReadAcrossShardsOrPiecesAsOneCall() throws Exception {
    runWithStore(
        (rank, store) -> {
          Variable x = store.add("x", Rows.range(DType.FLOAT64, 1, 0, 4000, 10)); // 320 kB a rank
          int rows = Math.toIntExact(x.rows());
          double[] array = new double[rows * 10];
          long[] all = LongStream.range(0, rows).toArray();
          try (Reader reader = x.reader()) {
            reader.get(Tensor.wrap(array, rows, 10), 0);
            reader.getBatch(Tensor.wrap(array, rows, 10), all);
            reader.getBatch(Rows.room(x.schema().field(0), rows), all);
            for (ReadPath path : ReadPath.values()) {
              ReadStatistics read = reader.statistics(path);
              assertThat(read.calls()).as("%s", read).isEqualTo(read.rows() > 0 ? 3 : 0);
            }
            for (int batch = 3; batch < 130; batch++) {
              reader.getBatch(0).close();
            }
            assertThat(reader.latency().count()).as("timed batches 0, 64 and 128").isEqualTo(3);
            ReadStatistics first = reader.statistics(rank.pathTo(0));
            assertThat(first.nanos()).isGreaterThan(127 * first.bestNanos() / 2);
          }
          assertThat(x.latency().count()).as("after the close").isEqualTo(3);
        });
  }

  /**
   * Runs with one rank up to the number of ranks of this contract, which is four in the threads of
   * one process. Each rank digests its own rows, whichever transport other ranks read them by.
   */
  @Test
  default void theDigestDoesNotDependOnTheNumberOfRanks() throws Exception {
    Path file = Files.createTempFile("digest-", ".txt");
    String name = file.toString();
    Set<String> digests = new TreeSet<>();
    for (int ranks = 1; ranks <= ranks(); ranks++) {
      run(ranks, rank -> writeDigest(rank, name, false));
      digests.add(Files.readString(file));
    }
    assertThat(digests).hasSize(1);
    run(2, rank -> writeDigest(rank, name, true));
    assertThat(Files.readString(file)).as("two rows swapped").isNotIn(digests);
    Files.delete(file);
  }

  private static void writeDigest(RankEnv rank, String file, boolean swapped) throws IOException {
    String digest = digest(rank, 41, swapped);
    if (rank.rank() == rank.ranks() - 1) {
      Files.writeString(Path.of(file), digest);
    }
  }

  private static String digest(RankEnv rank, int rows, boolean swapped) {
    long from = ExtentMap.balancedStart(rows, rank.rank(), rank.ranks());
    long to = ExtentMap.balancedStart(rows, rank.rank() + 1, rank.ranks());
    try (DDStore store = rank.open();
        ShardWriter shard = ShardWriter.create(Schema.of(Records.FIELDS), rank.options())) {
      for (long index = from; index < to; index++) {
        long source = swapped && (index == 3 || index == 30) ? 33 - index : index;
        shard.append(Records.values(9, source));
      }
      store.add("records", shard);
      try (Batch batch = store.getBatch("records", 3)) {
        assertThat(batch.rows()).isEqualTo(1);
      }
      String digest = store.digest("records");
      assertThat(digest).matches("[0-9a-f]{32}");
      assertThat(store.digest("records")).isEqualTo(digest);
      return digest;
    }
  }

  @Test
  default void theDigestChangesWithAnUpdateAndAnAppend() throws Exception {
    runWithStore(
        (rank, store) -> {
          Rows.addLongs(store, "x", 1);
          Set<String> digests = new TreeSet<>();
          digests.add(store.digest("x"));
          if (rank.rank() == 1) {
            store.update("x", Rows.range(DType.INT64, 77, 0, 1, 3), 4);
          }
          assertThat(digests).contains(store.digest("x"));
          store.epochBegin();
          store.epochEnd();
          digests.add(store.digest("x"));
          store.append("x", Rows.range(DType.INT64, 78, 0, 1, 3));
          digests.add(store.digest("x"));
          assertThat(digests).hasSize(3);
        });
  }
}
