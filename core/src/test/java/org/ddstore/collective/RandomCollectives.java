// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import org.ddstore.types.RankFailedException;

/**
 * A rank's part in a random sequence of collectives: what all ranks draw from one seed is the same
 * on all, so each rank knows what all others contribute, and computes what is to come out.
 */
final class RandomCollectives {
  private static final int MAX_BYTES = 3 * Lane.SLOT_BYTES;
  private static final int MAX_ELEMENTS = 150_000;
  private static final List<ReduceOp> OPS = List.of(ReduceOp.SUM, ReduceOp.MIN, ReduceOp.MAX);

  private final Communicator whole;
  private final long seed;
  private final Random random;

  RandomCollectives(Communicator whole, long seed) {
    this.whole = whole;
    this.seed = seed;
    this.random = new Random(seed);
  }

  void run(int calls) throws Exception {
    List<Communicator> parts = new ArrayList<>();
    try {
      for (int call = 0; call < calls; call++) {
        try {
          one(call, parts);
        } catch (RuntimeException | AssertionError e) {
          throw new AssertionError(
              "collective %d of rank %d, seed %d".formatted(call, whole.rank(), seed), e);
        }
      }
    } finally {
      parts.forEach(Communicator::close);
    }
  }

  private void one(int call, List<Communicator> parts) {
    long seedOfCall = random.nextLong();
    int kind = random.nextInt(20);
    int choice = random.nextInt();
    if (kind == 0 && parts.size() < 3) {
      parts.add(whole.split(Math.floorMod(choice + whole.rank(), 2)));
      return;
    }
    if (kind == 1 && !parts.isEmpty()) {
      parts.remove(parts.size() - 1).close();
      return;
    }
    int group = Math.floorMod(choice, parts.size() + 1);
    Communicator c = group == 0 ? whole : parts.get(group - 1);
    switch (kind) {
      case 2, 3 -> reduceFloats(c, seedOfCall);
      case 4, 5 -> reduceDoubles(c, seedOfCall);
      case 6, 7 -> reduceLongs(c, seedOfCall);
      case 8, 9, 10, 11 -> gather(c, seedOfCall);
      case 12, 13 -> broadcast(c, seedOfCall);
      case 14 -> fail(c, seedOfCall, "call " + call);
      default -> c.barrier();
    }
  }

  private static void reduceFloats(Communicator c, long seed) {
    int length = length(seed, MAX_ELEMENTS);
    ReduceOp op = op(seed);
    float[] values = ReductionOracle.floats(seed, c.rank(), length);
    c.allReduce(values, op);
    assertThat(
            Arrays.equals(
                ReductionOracle.rawBits(values),
                ReductionOracle.canonicalBits(
                    ReductionOracle.reduceFloats(seed, c.size(), length, op))))
        .as("%s of %d float32", op, length)
        .isTrue();
  }

  private static void reduceDoubles(Communicator c, long seed) {
    int length = length(seed, MAX_ELEMENTS);
    double[] values = ReductionOracle.doubles(seed, c.rank(), length);
    c.allReduce(values, ReduceOp.SUM);
    assertThat(Arrays.equals(values, ReductionOracle.reduceDoubles(seed, c.size(), length)))
        .as("sum of %d float64", length)
        .isTrue();
  }

  private static void reduceLongs(Communicator c, long seed) {
    int length = length(seed, MAX_ELEMENTS);
    ReduceOp op = op(seed);
    long[] values = ReductionOracle.longs(seed, c.rank(), length);
    c.allReduce(values, op);
    assertThat(Arrays.equals(values, ReductionOracle.reduceLongs(seed, c.size(), length, op)))
        .as("%s of %d int64", op, length)
        .isTrue();
  }

  private static void gather(Communicator c, long seed) {
    byte[][] all = c.allGather(bytes(seed, c.rank()));
    for (int r = 0; r < all.length; r++) {
      assertThat(Arrays.equals(all[r], bytes(seed, r))).as("bytes of rank %d", r).isTrue();
    }
  }

  private static void broadcast(Communicator c, long seed) {
    int root = (int) Math.floorMod(seed, (long) c.size());
    byte[] got = c.broadcast(c.rank() == root ? bytes(seed, root) : null, root);
    assertThat(Arrays.equals(got, bytes(seed, root))).as("bytes of root %d", root).isTrue();
  }

  private static void fail(Communicator c, long seed, String text) {
    int culprit = (int) Math.floorMod(seed, (long) c.size());
    Callable<byte[]> contribution =
        () -> {
          if (c.rank() == culprit) {
            throw new IOException(text);
          }
          return new byte[10];
        };
    try {
      c.exchange(text, contribution);
    } catch (RankFailedException e) {
      assertThat(e.rank()).isEqualTo(culprit);
      return;
    }
    throw new AssertionError("no rank saw that rank " + culprit + " threw");
  }

  private static ReduceOp op(long seed) {
    return OPS.get((int) Math.floorMod(seed, 3L));
  }

  private static byte[] bytes(long seed, int rank) {
    byte[] bytes = new byte[length(seed + rank, MAX_BYTES)];
    new Random(seed ^ rank).nextBytes(bytes);
    return bytes;
  }

  private static int length(long seed, int most) {
    Random random = new Random(seed);
    return random.nextInt(4) == 0 ? random.nextInt(most) : random.nextInt(200);
  }
}
