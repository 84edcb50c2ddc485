// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.ddstore.memory.MappedRegion;
import org.ddstore.types.CollectiveMismatchException;
import org.ddstore.types.RankFailedException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Results of collectives without failures; {@link FailureContract} tests failures. */
@Timeout(300) // 3,000 barriers of more ranks than cores, on a machine that does other work too
@Tag("always")
abstract class CommunicatorContract {
  static final Duration TIMEOUT = Duration.ofSeconds(30);

  private final List<Communicator> opened = new ArrayList<>();
  private long mappedBytes;

  abstract List<Communicator> newGroup(int size, Duration timeout) throws Exception;

  final List<Communicator> group(int size) throws Exception {
    return group(size, TIMEOUT);
  }

  final List<Communicator> group(int size, Duration timeout) throws Exception {
    List<Communicator> group = newGroup(size, timeout);
    opened.addAll(group);
    return group;
  }

  @BeforeEach
  final void countMappedBytes() {
    mappedBytes = MappedRegion.liveBytes();
  }

  @AfterEach
  final void closeAll() {
    opened.forEach(Communicator::close);
    beforeLeakCheck();
    Ranks.assertNoThreadLeft();
    assertThat(MappedRegion.liveBytes()).as("mapped bytes").isEqualTo(mappedBytes);
  }

  void beforeLeakCheck() {}

  @Test
  void reportsRankSizeAndTimeout() throws Exception {
    List<Communicator> group = group(3, Duration.ofSeconds(7));
    assertThat(group).extracting(Communicator::rank).containsExactly(0, 1, 2);
    assertThat(group).extracting(Communicator::size).containsOnly(3);
    assertThat(group).extracting(Communicator::timeout).containsOnly(Duration.ofSeconds(7));
    assertThat(group.get(1)).asString().endsWith(" rank 1/3");
  }

  @ParameterizedTest
  @CsvSource({"1, 1000", "2, 3000", "4, 3000", "7, 300"})
  void barriersKeepRanksTogetherUnderARandomSchedule(int size, int barriers) throws Exception {
    long seed = seed();
    AtomicLong arrivals = new AtomicLong();
    Ranks.values(
        group(size),
        communicator -> {
          Random random = new Random(seed + communicator.rank());
          for (int i = 0; i < barriers; i++) {
            if (random.nextInt(100) == 0) {
              loiter(random.nextInt(100_000));
            }
            arrivals.incrementAndGet();
            communicator.barrier();
            long seen = arrivals.get();
            if (seen < (long) size * (i + 1) || seen > (long) size * (i + 2)) {
              throw new AssertionError(seen + " arrivals at barrier " + i + ", seed " + seed);
            }
          }
          return null;
        });
  }

  @ParameterizedTest
  @ValueSource(
      ints = {
        0,
        1,
        Lane.SLOT_BYTES - 1,
        Lane.SLOT_BYTES,
        Lane.SLOT_BYTES + 1,
        2 * Lane.SLOT_BYTES,
        5_000_000
      })
  void allGatherGivesEveryRanksBytesToAll(int bytes) throws Exception {
    long seed = seed();
    for (byte[][] all :
        Ranks.values(
            group(3), communicator -> communicator.allGather(bytes(seed, communicator, bytes)))) {
      assertThat(all).hasDimensions(3, bytes);
      for (int r = 0; r < 3; r++) {
        assertThat(Arrays.equals(all[r], bytes(seed, r, bytes)))
            .as("bytes of rank %d, seed %d", r, seed)
            .isTrue();
      }
    }
  }

  @Test
  void allGatherAcceptsDifferentSizes() throws Exception {
    long seed = seed();
    int rounds = 60;
    Ranks.values(
        group(4),
        communicator -> {
          for (int i = 0; i < rounds; i++) {
            byte[][] all =
                communicator.allGather(
                    bytes(seed, communicator.rank(), length(seed, i, communicator.rank())));
            for (int r = 0; r < all.length; r++) {
              if (!Arrays.equals(all[r], bytes(seed, r, length(seed, i, r)))) {
                throw new AssertionError("round " + i + ", rank " + r + ", seed " + seed);
              }
            }
          }
          return null;
        });
  }

  @Test
  void resultsBelongToTheCaller() throws Exception {
    List<byte[][]> all =
        Ranks.values(
            group(2),
            communicator -> {
              byte[] mine = {1, 2, 3};
              byte[][] result = communicator.allGather(mine);
              mine[0] = 9;
              Arrays.fill(result[1 - communicator.rank()], (byte) 7);
              communicator.barrier();
              return result;
            });
    assertThat(all.get(0)[0]).containsExactly(1, 2, 3);
    assertThat(all.get(1)[1]).containsExactly(1, 2, 3);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void broadcastGivesTheRootsBytes(int root) throws Exception {
    byte[] text = "from the root".getBytes(StandardCharsets.UTF_8);
    assertThat(Ranks.values(group(3), c -> c.broadcast(c.rank() == root ? text : null, root)))
        .containsOnly(text);
  }

  @ParameterizedTest
  @CsvSource({
    "1, 5, SUM",
    "2, 0, SUM",
    "2, 650000, SUM",
    "3, 65536, MIN",
    "3, 65537, MAX",
    "4, 70001, SUM"
  })
  void allReduceOfFloatsHasTheSameBitsOnAllRanks(int size, int length, ReduceOp op)
      throws Exception {
    long seed = seed();
    List<int[]> bits =
        Ranks.values(
            group(size),
            communicator -> {
              float[] values = ReductionOracle.floats(seed, communicator.rank(), length);
              communicator.allReduce(values, op);
              return ReductionOracle.rawBits(values);
            });
    float[] expected = ReductionOracle.reduceFloats(seed, size, length, op);
    for (int[] ofRank : bits) {
      assertThat(ofRank).as("seed %d", seed).isEqualTo(ReductionOracle.canonicalBits(expected));
    }
  }

  @Test
  void allReduceTakesDoublesAndLongs() throws Exception {
    long seed = seed();
    int length = 40_000;
    List<double[]> sums =
        Ranks.values(
            group(3),
            communicator -> {
              double[] values = ReductionOracle.doubles(seed, communicator.rank(), length);
              communicator.allReduce(values, ReduceOp.SUM);
              return values;
            });
    assertThat(sums)
        .as("seed %d", seed)
        .allSatisfy(
            ofRank -> assertThat(ofRank).isEqualTo(ReductionOracle.reduceDoubles(seed, 3, length)));
    for (ReduceOp op : ReduceOp.values()) {
      List<long[]> results =
          Ranks.values(
              group(3),
              communicator -> {
                long[] values = ReductionOracle.longs(seed, communicator.rank(), length);
                communicator.allReduce(values, op);
                return values;
              });
      assertThat(results)
          .as("%s, seed %d", op, seed)
          .containsOnly(ReductionOracle.reduceLongs(seed, 3, length, op));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "1, 5, SUM, 0",
    "2, 0, SUM, 0",
    "2, 1, MIN, 4",
    "3, 16385, MAX, 1",
    "2, 650000, SUM, 0",
    "3, 65536, MIN, 3",
    "3, 65537, MAX, 4",
    "4, 70001, SUM, 1"
  })
  void allReduceInDirectMemoryHasTheBitsOfArrays(int size, int length, ReduceOp op, int offset)
      throws Exception {
    long seed = seed();
    List<int[]> bits =
        Ranks.values(
            group(size),
            communicator -> {
              float[] values = ReductionOracle.floats(seed, communicator.rank(), length);
              if (communicator.rank() == 2) { // one rank passes an array
                communicator.allReduce(values, op);
                return ReductionOracle.rawBits(values);
              }
              ByteOrder order =
                  communicator.rank() == 1 ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
              FloatBuffer inPlace = direct(offset + 4 * length + 12, offset, order).asFloatBuffer();
              inPlace.put(0, 7).put(1 + length, 8); // neighbours of the elements
              inPlace.position(1).limit(1 + length).mark();
              inPlace.put(values).reset();
              communicator.allReduce(inPlace, op);
              assertThat(inPlace.position()).isEqualTo(1);
              inPlace.get(values).clear();
              assertThat(new float[] {inPlace.get(0), inPlace.get(1 + length)})
                  .containsExactly(7, 8);
              return ReductionOracle.rawBits(values);
            });
    float[] expected = ReductionOracle.reduceFloats(seed, size, length, op);
    for (int[] ofRank : bits) {
      assertThat(ofRank).as("seed %d", seed).isEqualTo(ReductionOracle.canonicalBits(expected));
    }
  }

  @ParameterizedTest
  @CsvSource({"2, 3, SUM, 1", "3, 40000, SUM, 0", "2, 40000, MIN, 3", "3, 40000, MAX, 8"})
  void allReduceTakesDoublesInDirectMemory(int size, int length, ReduceOp op, int offset)
      throws Exception {
    long seed = seed();
    List<List<double[]>> results =
        Ranks.values(
            group(size),
            communicator -> {
              double[] values = ReductionOracle.doubles(seed, communicator.rank(), length);
              DoubleBuffer inPlace =
                  direct(offset + 8 * length, offset, ByteOrder.nativeOrder()).asDoubleBuffer();
              inPlace.put(0, values);
              communicator.allReduce(inPlace, op);
              communicator.allReduce(values, op);
              double[] reduced = new double[length];
              inPlace.get(reduced);
              return List.of(values, reduced);
            });
    assertThat(results)
        .as("seed %d", seed)
        .allSatisfy(
            ofRank -> {
              assertThat(ofRank.get(1)).isEqualTo(ofRank.get(0));
              assertThat(ofRank.get(1)).isEqualTo(results.get(0).get(1));
            });
  }

  private static ByteBuffer direct(int bytes, int offset, ByteOrder order) {
    return ByteBuffer.allocateDirect(bytes).position(offset).slice().order(order);
  }

  @Test
  void allReduceRejectsBuffersThatItCannotReduceInPlace() throws Exception {
    FloatBuffer readOnly =
        direct(16, 0, ByteOrder.nativeOrder()).asFloatBuffer().asReadOnlyBuffer();
    List<Executable> wrong =
        List.of(
            c -> c.allReduce(FloatBuffer.allocate(4), ReduceOp.SUM),
            c -> c.allReduce(readOnly, ReduceOp.SUM),
            c -> c.allReduce(DoubleBuffer.wrap(new double[4]), ReduceOp.SUM));
    List<Communicator> group = group(2);
    for (Executable call : wrong) {
      List<Ranks.Outcome<Object>> outcomes =
          Ranks.run(
              group,
              communicator -> {
                if (communicator.rank() == 0) {
                  call.run(communicator);
                } else {
                  communicator.allReduce(new float[4], ReduceOp.SUM);
                }
                return null;
              });
      assertThat(outcomes.get(0).thrown())
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageMatching("inPlace is (a heap buffer|read-only): pass a writable view .*");
      assertThat(outcomes.get(1).thrown())
          .isInstanceOfAny(RankFailedException.class, CollectiveMismatchException.class);
      if (outcomes.get(1).thrown() instanceof CollectiveMismatchException) {
        group = group(2);
      }
    }
  }

  private interface Executable {
    void run(Communicator communicator);
  }

  @Test
  void closeIsIdempotentAndRejectsLaterUse() throws Exception {
    Communicator communicator = group(1).get(0);
    communicator.close();
    communicator.close();
    communicator.abort(new RuntimeException("too late to matter"));
    assertThatThrownBy(communicator::barrier)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("closed: " + communicator);
  }

  @Test
  void keepsAnInterruptIfNoWaitIsNeeded() throws Exception {
    Communicator communicator = group(1).get(0);
    Thread.currentThread().interrupt();
    communicator.barrier();
    assertThat(Thread.interrupted()).isTrue();
  }

  static long seed() {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    return seed;
  }

  private static byte[] bytes(long seed, Communicator communicator, int length) {
    return bytes(seed, communicator.rank(), length);
  }

  private static byte[] bytes(long seed, int rank, int length) {
    byte[] bytes = new byte[length];
    new Random(seed + rank).nextBytes(bytes);
    return bytes;
  }

  private static int length(long seed, int round, int rank) {
    Random random = new Random(seed + round * 101L + rank);
    return random.nextInt(10) == 0 ? random.nextInt(3 * Lane.SLOT_BYTES) : random.nextInt(300);
  }

  private static void loiter(int spins) {
    for (int i = 0; i < spins; i++) {
      Thread.onSpinWait();
    }
  }
}
