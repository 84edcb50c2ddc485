package org.ddstore.collective;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.ddstore.types.CollectiveInterruptedException;
import org.ddstore.types.RankFailedException;

/**
 * Collectives between the ranks of one group, in the sense of MPI 4.0 chapter 6: every rank calls
 * the same operations in the same order. All of them block until all ranks have called.
 *
 * <p><b>Failure.</b> An error on one rank ends the call on all live ranks: on the rank that caused
 * it with its own exception, on the others with {@link RankFailedException}. When what a rank
 * contributes to {@link #exchange} throws (or an argument is bad), all ranks see it in the same
 * call, and the group can be used on.
 *
 * <p>It breaks by {@link #abort}, by a rank that closes while others call, and by what has an
 * exception of its own: {@link org.ddstore.types.CollectiveMismatchException} if ranks called
 * different operations or the same with different arguments, {@link
 * org.ddstore.types.RankLostException} if a process ended, {@link
 * org.ddstore.types.DeadlineExceededException} if ranks did not come within {@link #timeout()}. A
 * thread that is interrupted while it waits gets {@link CollectiveInterruptedException}. A rank
 * that had returned already learns it at its next call. Each later collective of any rank fails at
 * once with the first cause, and only {@link #close()} is left to do.
 *
 * <p><b>Threads.</b> One thread at a time; a second one is refused with {@link
 * IllegalStateException} and does no harm. {@link #abort} and {@link #close()} may be called by any
 * thread at any time.
 *
 * <p><b>Several groups.</b> A rank may use groups that were {@linkplain #split split} from one
 * another from several threads, each group by one at a time. As long as one thread has called all
 * collectives of a rank since its first split, that thread is taken to be the only one: if two such
 * ranks wait for each other in different groups for a second, all their groups break by {@link
 * org.ddstore.types.CollectiveMismatchException}. Ranks of which several threads have called are
 * never judged so: they wait until the deadline.
 */
public final class Communicator implements AutoCloseable {
  private static final Duration MAX_TIMEOUT = Duration.ofDays(365);

  private final GroupLanes lanes;
  private final Rounds rounds;
  private final Duration timeout;
  private final Family family;
  private final AtomicReference<Thread> user = new AtomicReference<>();
  private final AtomicBoolean closed = new AtomicBoolean();

  /**
   * @param lanes given back at the close
   * @param family of the rank whose communicator this is, which it joins
   * @param origins of each rank, its number in the group that all of the family were split from
   */
  Communicator(GroupLanes lanes, Duration timeout, Family family, int... origins) {
    this.lanes = lanes;
    this.rounds = new Rounds(lanes, family, origins);
    this.timeout = timeout;
    this.family = family;
    family.add(rounds);
  }

  /** Checks a timeout before anything is made: (0, 365 days]. */
  static Duration checkTimeout(Duration timeout) {
    if (timeout.isZero() || timeout.isNegative() || timeout.compareTo(MAX_TIMEOUT) > 0) {
      throw new IllegalArgumentException(
          "timeout " + timeout + " outside (0, " + MAX_TIMEOUT + "]");
    }
    return timeout;
  }

  /** The rank of this communicator, of [0, {@link #size()}). Local. */
  public int rank() {
    return rounds.rank();
  }

  /** How many ranks the group has. Local. */
  public int size() {
    return rounds.size();
  }

  /** How long a collective may wait for other ranks once the rank's own work in it is done. */
  public Duration timeout() {
    return timeout;
  }

  /** Returns once all ranks have called. Collective. */
  public void barrier() {
    exchange("barrier()", () -> new byte[0]);
  }

  /**
   * A barrier at which ranks may arrive far apart, each when it has done what took it so long.
   * Collective. A rank that fails, leaves or dies meanwhile is noticed as in any other.
   *
   * @param what they have done, as text, the same on all ranks
   * @param patience in place of {@link #timeout()}, of (0, 365 days]; may differ between ranks
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
   * Parts the group: ranks that give the same color make a new one, in the order of their ranks
   * here, as {@code MPI_Comm_split} does with equal keys (MPI 4.0 section 7.4.2). Collective. The
   * new group has lanes of its own and this one's timeout, is closed on its own, and breaks on its
   * own; but a rank that {@link #abort aborts} in one of the two does so in both.
   *
   * @param color any number
   */
  public Communicator split(int color) {
    family.splitBy(Thread.currentThread());
    return new Split(this, lanes.exchange(), family).into(color);
  }

  /**
   * Gives each rank's bytes to all. Collective.
   *
   * @param mine any number of bytes, also none, and not the same on all ranks; not null
   * @return by rank, in fresh arrays
   */
  public byte[][] allGather(byte[] mine) {
    return exchange("allGather()", () -> Objects.requireNonNull(mine, "mine"));
  }

  /**
   * Gives the root's bytes to all. Collective.
   *
   * @param bytes read on rank {@code root} only; may be null elsewhere
   * @param root the same on all ranks, of [0, size)
   * @return the root's bytes, in a fresh array
   */
  public byte[] broadcast(byte[] bytes, int root) {
    Callable<byte[]> contribution =
        () -> {
          Objects.checkIndex(root, size());
          return root == rank() ? Objects.requireNonNull(bytes, "bytes") : new byte[0];
        };
    return exchange("broadcast(root " + root + ")", contribution)[root];
  }

  /**
   * Replaces each element by the reduction of that element over all ranks. Collective. The order is
   * that of the ranks, so all ranks get the same bits (a NaN is the canonical one).
   *
   * @param inPlace the same length on all ranks; its content is undefined if the call fails
   * @param op the same on all ranks
   */
  public void allReduce(float[] inPlace, ReduceOp op) {
    String type = inPlace == null ? "null" : "float32[" + inPlace.length + "]";
    reduce(
        type, op, () -> new FloatReduction(Objects.requireNonNull(inPlace, "inPlace is null"), op));
  }

  /** As {@link #allReduce(float[], ReduceOp)}. */
  public void allReduce(double[] inPlace, ReduceOp op) {
    String type = inPlace == null ? "null" : "float64[" + inPlace.length + "]";
    reduce(
        type,
        op,
        () -> new DoubleReduction(Objects.requireNonNull(inPlace, "inPlace is null"), op));
  }

  /** As {@link #allReduce(float[], ReduceOp)}. */
  public void allReduce(long[] inPlace, ReduceOp op) {
    String type = inPlace == null ? "null" : "int64[" + inPlace.length + "]";
    reduce(
        type, op, () -> new LongReduction(Objects.requireNonNull(inPlace, "inPlace is null"), op));
  }

  /**
   * Does a rank's own part of an operation and gives its result to all; every other collective is
   * made of this one. Collective. What the contribution throws ends the call on all ranks.
   *
   * @param call the operation and its arguments as text, the same on all ranks, as in {@code
   *     add("x", float32[3])}; a digest of all of it is compared, the first 500 bytes are reported
   * @param contribution called once, by this thread; must not use this communicator
   * @return by rank, in fresh arrays
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
   * Tells all ranks that this one gave up: they raise {@link RankFailedException} in the collective
   * they are in, unless all ranks have arrived there, or else in their next. So it is in all groups
   * that this one was split from or into. Local, does not block.
   *
   * @param reason named in the others' exceptions
   */
  public void abort(Throwable reason) {
    Objects.requireNonNull(reason, "reason is null");
    if (!closed.get()) {
      family.giveUp(reason);
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
      family.remove(rounds);
      rounds.leave(); // the last touch of the own lane: only now may it be freed
      releaseIfIdle();
    }
  }

  /** As in {@code local rank 0/4}. */
  @Override
  public String toString() {
    return lanes.exchange().kind() + " rank " + rank() + "/" + size();
  }

  /** The number of a rank in the group that this one was split from, at last. Local. */
  int origin(int ofRank) {
    return rounds.origin(ofRank);
  }

  /** True while a thread is in a collective. Local. */
  boolean isBusy() {
    return user.get() != null;
  }

  private void reduce(String type, ReduceOp op, Callable<Reduction> reduction) {
    Callable<Reduction> checked =
        () -> {
          Objects.requireNonNull(op, "op");
          return reduction.call();
        };
    collective(
        "allReduce(" + type + ", " + op + ")",
        checked,
        mine -> {
          mine.run(rounds);
          return null;
        });
  }

  private <C, R> R collective(String call, Callable<C> ownWork, Function<C, R> together) {
    occupy(call);
    family.calledBy(Thread.currentThread());
    try {
      rounds.begin(call, timeout);
      C mine = doOwnWork(call, ownWork);
      R result = together.apply(mine);
      rounds.end();
      return result;
    } catch (RuntimeException | Error e) {
      if (closed.get()) {
        throw new IllegalStateException("closed: " + this, e);
      }
      if (rounds.failedTogether()) {
        rounds.end();
      } else {
        rounds.fail(Diagnosis.threw(rank(), call, e.toString())); // if it is not known already
      }
      throw e;
    } finally {
      vacate();
    }
  }

  private <C> C doOwnWork(String call, Callable<C> ownWork) {
    Throwable own;
    try {
      C mine = ownWork.call();
      rounds.startClock();
      return mine;
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
          "%s on %s while thread \"%s\" is in a collective on it"
              .formatted(text, this, other.getName()));
    }
  }

  private void vacate() {
    user.set(null);
    if (rounds.hasLeft()) {
      releaseIfIdle();
    }
  }

  /** The closer and the last user both try; whoever gets the place keeps it for ever. */
  private void releaseIfIdle() {
    if (user.compareAndSet(null, Thread.currentThread())) {
      lanes.close();
    }
  }
}
