// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.resource.ResourceProfileBuilder;
import org.apache.spark.resource.TaskResourceRequests;
import org.ddstore.DDStore;
import org.ddstore.ReadStatistics;
import org.ddstore.Tensor;
import org.ddstore.spark.types.PreflightException;
import org.ddstore.types.Backing;
import org.ddstore.types.DType;
import org.ddstore.types.ReadPath;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The paths by which ranks of two executors, 2 each, reach each other's rows. */
@Tag("system")
@Timeout(300)
class StoreOnExecutorsTest extends OnTwoExecutors {
  private static StoreSpec numbers() {
    return DDStores.from(numberedRows()).ranks(4).maxAttempts(1);
  }

  /**
   * The paths by which a rank read all rows once.
   *
   * @param ownRows rows that its process owns
   */
  private record Read(
      String executor, long ownRows, long sum, long ownProcess, long sameHost, long remote)
      implements Serializable {}

  private static Read readByPath(RankContext context) {
    long sum = readAll(context);
    List<ReadStatistics> paths = context.store().statistics();
    long ownRows =
        context.store().info().variables().get(0).extents().stream()
            .filter(extent -> extent.path() == ReadPath.OWN_PROCESS)
            .mapToLong(extent -> extent.rows())
            .sum();
    return new Read(
        context.executorId(),
        ownRows,
        sum,
        paths.get(ReadPath.OWN_PROCESS.index()).rows(),
        paths.get(ReadPath.SAME_HOST.index()).rows(),
        paths.get(ReadPath.REMOTE.index()).rows());
  }

  private static void assertHalfAndHalf(List<Read> reads) {
    assertThat(reads).hasSize(4);
    assertThat(reads.stream().map(Read::executor).distinct()).as("executors").hasSize(2);
    for (Read read : reads) {
      assertThat(read.sum()).isEqualTo(SUM);
      assertThat(read.ownRows()).as("rows of executor %s", read.executor()).isEqualTo(ROWS / 2);
      assertThat(read.ownProcess()).as("by own process").isEqualTo(ROWS / 2);
      assertThat(read.sameHost()).as("by same host").isEqualTo(ROWS / 2);
      assertThat(read.remote()).as("by network").isZero();
    }
  }

  @Test
  void readsSharedMemoryByOwnProcessAndSameHost() {
    assertHalfAndHalf(numbers().run(StoreOnExecutorsTest::readByPath));
  }

  /** In spark-submit, the common pool's threads do not know the classes of the application. */
  @Test
  void threadWithoutTheClassesOfTheResultsGetsThem() {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    thread.setContextClassLoader(
        new ClassLoader(before) {
          @Override
          protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (name.equals(Read.class.getName())) {
              throw new ClassNotFoundException(name);
            }
            return super.loadClass(name, resolve);
          }
        });
    try {
      assertHalfAndHalf(numbers().run(StoreOnExecutorsTest::readByPath));
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  @Test
  void readsFilesByOwnProcessAndSameHost() throws IOException {
    assertHalfAndHalf(numbers().files(directory).run(StoreOnExecutorsTest::readByPath));
    try (Stream<Path> left = Files.list(directory)) {
      assertThat(left).as("what is left in the directory").isEmpty();
    }
  }

  @Test
  void readsRemoteDirectMemoryOverTheTransport() {
    for (Read read : numbers().backing(Backing.DIRECT).run(StoreOnExecutorsTest::readByPath)) {
      assertThat(read.sum()).isEqualTo(SUM);
      assertThat(read.ownProcess()).as("by own process").isEqualTo(ROWS / 2);
      assertThat(read.remote()).as("by network").isEqualTo(ROWS / 2);
    }
  }

  @Test
  void readsAllRowsOverTheTransportWithoutShortcut() {
    List<Read> reads =
        numbers().transport("tcp").shortcut(false).run(StoreOnExecutorsTest::readByPath);
    assertThat(reads).hasSize(4);
    for (Read read : reads) {
      assertThat(read.sum()).isEqualTo(SUM);
      assertThat(read.remote()).as("by network").isEqualTo(ROWS);
    }
  }

  /** The report of one rank of a store with replica groups. */
  private record Replica(
      int group, int member, Read read, List<Long> shards, String digest, String refusedUpdate)
      implements Serializable {}

  private static Replica replica(RankContext context) {
    return new Replica(
        context.replicaGroup(),
        context.store().rank(),
        readByPath(context),
        context.store().info().variables().get(0).extents().stream()
            .map(extent -> extent.rows())
            .toList(),
        context.store().digest(RankContext.ROWS),
        refusedUpdate(context));
  }

  /**
   * Returns the reason why the rows cannot be updated; empty if they can. The task's own variable
   * can be updated.
   */
  private static String refusedUpdate(RankContext context) {
    DDStore store = context.store();
    store.init("own", 1, DType.INT64, 1);
    store.update("own", Tensor.wrap(new long[] {7}, 1, 1), 0);
    store.epochBegin();
    long[] own = new long[1];
    store.get("own", Tensor.wrap(own, 1, 1), 0);
    store.epochEnd();
    assertThat(own).containsExactly(7);
    try {
      store.update(RankContext.ROWS, Tensor.wrap(new long[] {7}), 0);
      return "";
    } catch (IllegalStateException e) {
      return e.getMessage();
    } catch (IllegalArgumentException e) {
      return ""; // may be updated, by other rows
    }
  }

  @ParameterizedTest
  @CsvSource({"1, true", "2, true", "2, false", "4, true"})
  void everyReplicaGroupHoldsAllRowsAndReadsItsOwn(int width, boolean shortcut) {
    List<Replica> replicas =
        numbers().width(width).shortcut(shortcut).run(StoreOnExecutorsTest::replica);
    assertThat(replicas).hasSize(4);
    for (int rank = 0; rank < 4; rank++) {
      Replica replica = replicas.get(rank);
      assertThat(replica.group()).isEqualTo(rank / width);
      assertThat(replica.member()).isEqualTo(rank % width);
      assertThat(replica.shards()).as("shards of a copy").hasSize(width);
      assertThat(replica.shards().stream().mapToLong(rows -> rows).sum()).isEqualTo(ROWS);
      assertThat(replica.read().sum()).isEqualTo(SUM);
      assertThat(replica.digest()).isEqualTo(replicas.get(0).digest());
      assertRefusesUpdates(replica, width);
      if (width == 1 && shortcut) {
        assertThat(replica.read().ownProcess()).as("inside the group").isEqualTo(ROWS);
      }
    }
  }

  private static void assertRefusesUpdates(Replica replica, int width) {
    if (width == 4) {
      assertThat(replica.refusedUpdate()).as("the only copy").isEmpty();
    } else {
      assertThat(replica.refusedUpdate())
          .contains("cannot be updated: it is one of %d copies".formatted(4 / width))
          .endsWith("load without spark.ddstore.width, or change a variable that the task adds");
    }
  }

  @Test
  void rejectsAWidthThatDoesNotDivideTheRanks() {
    assertThatThrownBy(() -> numbers().width(3).run(RankContext::rank))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("setting spark.ddstore.width is 3, legal for 4 ranks: [1, 2, 4]");
  }

  @Test
  void explainShowsReplicaGroupsAndReadsInsideThem() {
    Explanation explanation = numbers().width(2).explain();
    assertThat(explanation.width()).isEqualTo(2);
    assertThat(explanation.ranks().stream().map(Explanation.Rank::group))
        .containsExactly(0, 0, 1, 1);
    assertThat(explanation.ranks().stream().map(Explanation.Rank::firstRow))
        .containsExactly(0L, ROWS / 2L, 0L, ROWS / 2L);
    assertThat(explanation.paths())
        .hasSize(8)
        .allMatch(path -> path.reader() / 2 == path.owner() / 2);
    assertThat(explanation.toString()).contains("2 replica groups of 2 ranks", "group 1, rank 3");
  }

  @Test
  void everyRankCountGivesTheSameDigest() {
    String digest = null;
    for (int ranks : List.of(1, 3, 4)) {
      List<String> digests =
          numbers().ranks(ranks).run(context -> context.store().digest(RankContext.ROWS));
      digest = digest == null ? digests.get(0) : digest;
      assertThat(digests).as("digests on %d ranks", ranks).containsOnly(digest);
    }
  }

  @Test
  void appliesSessionSettings() {
    Map<String, String> settings = Map.of("spark.ddstore.ranks", "3");
    settings.forEach((key, value) -> cluster.session().conf().set(key, value));
    try {
      assertThat(
              DDStores.from(cluster.session().range(30).toDF())
                  .run(context -> context.rows().localRows()))
          .containsExactly(10L, 10L, 10L);
    } finally {
      settings.keySet().forEach(cluster.session().conf()::unset);
    }
  }

  @Test
  void countsTheCpusOfAResourceProfile() {
    ResourceProfile twoCpus =
        new ResourceProfileBuilder().require(new TaskResourceRequests().cpus(2)).build();
    StoreSpec spec = DDStores.from(cluster.session().range(10).toDF()).resources(twoCpus);

    assertThat(spec.run(context -> context.rows().rows())).containsExactly(10L, 10L);
    assertThatThrownBy(() -> spec.ranks(4).slotsTimeout(Duration.ofMillis(1)).run(c -> 0))
        .isInstanceOf(PreflightException.class)
        .hasMessageContaining("4 ranks need 4 slots, 2 available")
        .hasMessageContaining("2 CPUs per task");
  }
}
