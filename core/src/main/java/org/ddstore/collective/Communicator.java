// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import org.ddstore.types.CollectiveInterruptedException;
import org.ddstore.types.RankFailedException;

/**
 * Collectives between the ranks of one group, in the sense of MPI 4.0 chapter 6: every rank calls
 * the same operations in the same order. All of them block until all ranks have called.
 *
 * <p><b>Failure.</b> An error on one rank ends the call on all live ranks: the rank that caused it
 * throws its own exception, the others {@link RankFailedException}. If the contribution of a rank
 * to {@link #exchange} throws (or an argument is invalid), all ranks see it in the same call, and
 * the group stays usable.
 *
 * <p>The group breaks by {@link #abort}, by a rank that closes while others call, and by the
 * following failures: {@link org.ddstore.types.CollectiveMismatchException} if ranks called
 * different operations, or the same with different arguments; {@link
 * org.ddstore.types.RankLostException} if a process ended; {@link
 * org.ddstore.types.DeadlineExceededException} if ranks did not come within {@link #timeout()}. A
 * thread that is interrupted while it waits throws {@link CollectiveInterruptedException}. A rank
 * that had already returned learns of the failure at its next call. Each later collective of any
 * rank fails at once with the first cause; the only remaining valid call is {@link #close()}.
 *
 * <p><b>Threads.</b> One thread at a time; a second one is rejected with {@link
 * IllegalStateException} without side effects. {@link #abort} and {@link #close()} may be called by
 * any thread at any time.
 *
 * <p><b>Several groups.</b> A rank may use groups that were {@linkplain #split split} from one
 * another from several threads, each group by one at a time. While one thread has called all
 * collectives of a rank since its first split, that thread is assumed to be the only one: if two
 * such ranks wait for each other in different groups for one second, all their groups break by
 * {@link org.ddstore.types.CollectiveMismatchException}. Ranks whose collectives were called by
 * several threads are exempt from this check: they wait until the deadline.
 */
public final class Communicator implements AutoCloseable {
  private static final Duration MAX_TIMEOUT = Duration.ofDays(365);

  private final GroupLanes lanes;
  private final Rounds rounds;
  private final Duration timeout;
  private final SplitGroups splitGroups;
  private final AtomicReference<Thread> user = new AtomicReference<>();
  private final AtomicBoolean closed = new AtomicBoolean();

  /**
   * @param lanes lanes of the group, given back at the close
   * @param splitGroups groups of this rank, which this communicator joins
   * @param origins for each rank, its number in the root group that all groups were split from
   */
  Communicator(GroupLanes lanes, Duration timeout, SplitGroups splitGroups, int... origins) {
    this.lanes = lanes;
    this.rounds = new Rounds(lanes, splitGroups, origins);
    this.timeout = timeout;
    this.splitGroups = splitGroups;
    splitGroups.add(rounds);
  }

  /** Checks a timeout before any resource is created: (0, 365 days]. */
  static Duration checkTimeout(Duration timeout) {
    if (timeout.isZero() || timeout.isNegative() || timeout.compareTo(MAX_TIMEOUT) > 0) {
      throw new IllegalArgumentException(
          "timeout " + timeout + " outside (0, " + MAX_TIMEOUT + "]");
    }
    return timeout;
  }

  /** {@return the rank of this communicator, in [0, {@link #size()})} Local. */
  public int rank() {
    return rounds.rank();
  }

  /** {@return the number of ranks of the group} Local. */
  public int size() {
    return rounds.size();
  }

  /** {@return how long a collective waits for other ranks once the rank's own work is done} */
  public Duration timeout() {
    return timeout;
  }

  /** Waits until all ranks have called. Collective. */
  public void barrier() {
    exchange("barrier()", () -> new byte[0]);
  }

  /**
   * Waits for ranks that can arrive far apart, such as after long work. Collective. A rank that
   * fails, leaves or dies meanwhile is detected as in any other collective.
   *
   * @param what text that names the completed work, the same on all ranks
   * @param patience longest wait, in place of {@link #timeout()}, in (0, 365 days]; may differ
   *     between ranks
   */
  public void awaitAll(String what, Duration patience) {
    Callable<byte[]> nothing =
        () -> {
          Objects.requireNonNull(what, "what is null");
          rounds.setTimeout(checkTimeout(Objects.requireNonNull(patience, "patience is null")));
          return new byte[0];
        };
    collective("awaitAll(" + what + ")", nothing, mine -> Gather.all(rounds, mine));
  }

  /**
   * Splits the group: ranks with the same color form a new group, in the order of their ranks here,
   * as {@code MPI_Comm_split} does with equal keys (MPI 4.0 section 7.4.2). Collective. The new
   * group has its own lanes and the timeout of this group, and is closed and breaks independently;
   * but a rank that {@link #abort aborts} in one of the two aborts in both.
   *
   * @param color any number
   * @return the communicator of the new group
   */
  public Communicator split(int color) {
    splitGroups.splitBy(Thread.currentThread());
    return new Split(this, lanes.exchange(), splitGroups).into(color);
  }

  /**
   * Sends each rank's bytes to all. Collective.
   *
   * @param mine any number of bytes, possibly zero, possibly different on each rank; not null
   * @return bytes of all ranks by rank, in new arrays
   */
  public byte[][] allGather(byte[] mine) {
    return exchange("allGather()", () -> Objects.requireNonNull(mine, "mine is null"));
  }

  /**
   * Sends the root's bytes to all. Collective.
   *
   * @param bytes read on rank {@code root} only; may be null elsewhere
   * @param root the same on all ranks, in [0, size)
   * @return bytes of the root, in a new array
   */
  public byte[] broadcast(byte[] bytes, int root) {
    Callable<byte[]> contribution =
        () -> {
          Objects.checkIndex(root, size());
          return root == rank() ? Objects.requireNonNull(bytes, "bytes is null") : new byte[0];
        };
    return exchange("broadcast(root " + root + ")", contribution)[root];
  }

  /**
   * Replaces each element by its reduction over all ranks. Collective. The reduction is in rank
   * order, so all ranks get the same bits (a NaN is the canonical one).
   *
   * @param inPlace array of the same length on all ranks; its content is undefined if the call
   *     fails
   * @param op the same on all ranks
   */
  public void allReduce(float[] inPlace, ReduceOp op) {
    String type = inPlace == null ? "null" : "float32[" + inPlace.length + "]";
    reduce(type, op, inPlace, () -> Elements.of(inPlace, op));
  }

  /**
   * Reduces as {@link #allReduce(float[], ReduceOp)}.
   *
   * @param inPlace this rank's values; overwritten by the result
   * @param op reduction of two values
   */
  public void allReduce(double[] inPlace, ReduceOp op) {
    String type = inPlace == null ? "null" : "float64[" + inPlace.length + "]";
    reduce(type, op, inPlace, () -> Elements.of(inPlace, op));
  }

  /**
   * Reduces as {@link #allReduce(float[], ReduceOp)}.
   *
   * @param inPlace this rank's values; overwritten by the result
   * @param op reduction of two values
   */
  public void allReduce(long[] inPlace, ReduceOp op) {
    String type = inPlace == null ? "null" : "int64[" + inPlace.length + "]";
    reduce(type, op, inPlace, () -> Elements.of(inPlace, op));
  }

  /**
   * Reduces elements in direct memory as {@link #allReduce(float[], ReduceOp)}, without an array of
   * their length. Ranks that pass a buffer and ranks that pass an array can meet in one call.
   *
   * @param inPlace writable view of a direct buffer; its elements between position and limit, the
   *     same number on all ranks, are overwritten by the result. The position does not change. Any
   *     byte order and any address; {@link java.nio.ByteOrder#nativeOrder()} is the fastest
   * @param op reduction of two values
   * @throws IllegalArgumentException if the buffer is on the heap or read-only
   */
  public void allReduce(FloatBuffer inPlace, ReduceOp op) {
    String type = inPlace == null ? "null" : "float32[" + inPlace.remaining() + "]";
    reduce(type, op, inPlace, () -> Elements.of(inPlace, op));
  }

  /**
   * Reduces elements in direct memory as {@link #allReduce(FloatBuffer, ReduceOp)}.
   *
   * @param inPlace writable view of a direct buffer, as there
   * @param op reduction of two values
   * @throws IllegalArgumentException if the buffer is on the heap or read-only
   */
  public void allReduce(DoubleBuffer inPlace, ReduceOp op) {
    String type = inPlace == null ? "null" : "float64[" + inPlace.remaining() + "]";
    reduce(type, op, inPlace, () -> Elements.of(inPlace, op));
  }

  /**
   * Runs a rank's own part of an operation and sends its result to all; every other collective is
   * built on this one. Collective. An exception of the contribution ends the call on all ranks.
   *
   * @param call operation and arguments as text, the same on all ranks, such as {@code add("x",
   *     float32[3])}; a digest of the full text is compared, its first 500 bytes are reported
   * @param contribution called once, by this thread; must not use this communicator
   * @return results of all ranks by rank, in new arrays
   */
  public byte[][] exchange(String call, Callable<byte[]> contribution) {
    Callable<byte[]> checked =
        () -> {
          Objects.requireNonNull(call, "call is null");
          Objects.requireNonNull(contribution, "contribution is null");
          return Objects.requireNonNull(contribution.call(), "contribution");
        };
    return collective(String.valueOf(call), checked, mine -> Gather.all(rounds, mine));
  }

  /**
   * Tells all ranks that this one aborts its collectives: they throw {@link RankFailedException} in
   * the current collective, unless all ranks have already arrived in it, otherwise in their next
   * one. The same applies to all groups that this one was split from or into. Local, does not
   * block.
   *
   * @param reason named in the exceptions of the other ranks
   */
  public void abort(Throwable reason) {
    Objects.requireNonNull(reason, "reason is null");
    if (!closed.get()) {
      splitGroups.abort(reason);
    }
  }

  /**
   * Leaves the group: a collective that other ranks are in or begin fails there. Local, does not
   * block, idempotent. A thread of this rank that is in a collective leaves it with {@link
   * IllegalStateException}.
   */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      splitGroups.remove(rounds);
      rounds.leave(); // the last access to the own lane, which can be freed afterwards
      releaseIfIdle();
    }
  }

  /** Returns a description such as {@code local rank 0/4}. */
  @Override
  public String toString() {
    return lanes.exchange().kind() + " rank " + rank() + "/" + size();
  }

  /** Returns the number of a rank in the root group that this one was split from. Local. */
  int origin(int rank) {
    return rounds.origin(rank);
  }

  boolean isBusy() {
    return user.get() != null;
  }

  private void reduce(String type, ReduceOp op, Object inPlace, Supplier<Elements> elements) {
    Callable<Reduction> checked =
        () -> {
          Objects.requireNonNull(op, "op is null");
          Objects.requireNonNull(inPlace, "inPlace is null");
          return new Reduction(elements.get());
        };
    collective(
        "allReduce(" + type + ", " + op + ")",
        checked,
        reduction -> {
          reduction.run(rounds);
          return null;
        });
  }

  private <C, R> R collective(String call, Callable<C> ownWork, Function<C, R> together) {
    occupy(call);
    splitGroups.calledBy(Thread.currentThread());
    try {
      rounds.begin(call, timeout);
      C contribution = doOwnWork(call, ownWork);
      R result = together.apply(contribution);
      rounds.end();
      return result;
    } catch (RuntimeException | Error e) {
      if (closed.get()) {
        throw new IllegalStateException("closed: " + this, e);
      }
      if (rounds.failedTogether()) {
        rounds.end();
      } else {
        rounds.fail(Diagnosis.threw(rank(), call, e.toString())); // unless already failed
      }
      throw e;
    } finally {
      vacate();
    }
  }

  private <C> C doOwnWork(String call, Callable<C> ownWork) {
    Throwable own;
    try {
      C contribution = ownWork.call();
      rounds.startClock();
      return contribution;
    } catch (Throwable e) {
      own = e;
    }
    RuntimeException wrapped = null;
    if (own instanceof InterruptedException) {
      Thread.currentThread().interrupt();
      wrapped = new CollectiveInterruptedException(call + ": interrupted in its own work");
    } else if (!(own instanceof RuntimeException) && !(own instanceof Error)) {
      wrapped = new RankFailedException(rank(), call + ": rank " + rank() + " failed: " + own);
    }
    rounds.startClock();
    Throwable raised = wrapped == null ? own : wrapped.initCause(own);
    RuntimeException broke = rounds.stepWithError(own);
    if (!(broke instanceof RankFailedException failed && failed.rank() == rank())) {
      raised.addSuppressed(broke);
    }
    if (raised instanceof Error error) {
      throw error;
    }
    throw (RuntimeException) raised;
  }

  private void occupy(String text) {
    Thread other = user.compareAndExchange(null, Thread.currentThread());
    if (closed.get()) {
      if (other == null) {
        vacate();
      }
      throw new IllegalStateException("closed: " + this);
    }
    if (other != null) {
      throw new IllegalStateException(
          "concurrent collectives on %s: %s is called while thread \"%s\" is in one; call them from one thread at a time"
              .formatted(this, text, other.getName()));
    }
  }

  private void vacate() {
    user.set(null);
    if (rounds.hasLeft()) {
      releaseIfIdle();
    }
  }

  /** Frees the lanes when the closer and the user are done; the one that frees keeps the permit. */
  private void releaseIfIdle() {
    if (user.compareAndSet(null, Thread.currentThread())) {
      lanes.close();
    }
  }
}
