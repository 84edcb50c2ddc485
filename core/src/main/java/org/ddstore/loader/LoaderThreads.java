// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import static java.util.stream.Collectors.joining;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.PoolStarvedException;

/**
 * The threads of a loader: one planner, so that choosing rows does not delay reading them, and
 * workers that read and transform. On close, user code (an iterator, a transform) is interrupted at
 * once, and a read of the store if it takes longer than reads usually do.
 */
final class LoaderThreads {
  /** Time after which a read whose rows are no longer needed is interrupted. */
  private static final long READ_GRACE_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Minimum running time of user code whose stack is captured, which stops its thread. */
  private static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final int MOST_DESCRIBED = 4;

  private final Pipeline pipeline;
  private final StageCounters counters;
  private final Consumer<LoadedBatch> transform;
  private final String transformCode;
  private final List<Member> members = new CopyOnWriteArrayList<>();
  private volatile Member planner;

  LoaderThreads(Pipeline pipeline, StageCounters counters, LoaderOptions options) {
    this.pipeline = pipeline;
    this.counters = counters;
    this.transform = options.transform();
    this.transformCode = "the transform " + transform.getClass().getName();
    planner = new Member("ddstore-loader-plan", this::planAll);
    members.add(planner);
    for (int worker = 0; worker < options.workers(); worker++) {
      members.add(new Member("ddstore-loader-read-" + worker, this::readAll));
    }
    pipeline.onStuckPlanner(this::replacePlanner);
    try {
      members.forEach(Thread::start);
    } catch (OutOfMemoryError e) { // the system has no thread to give
      pipeline.close();
      throw e;
    }
  }

  /** Pops a batch; if none is ready in time, the error names the user code that is running. */
  LoadedBatch pop(Duration timeout) {
    try {
      return pipeline.pop(timeout);
    } catch (PoolStarvedException e) {
      String running = describeRunning();
      throw running.isEmpty()
          ? e
          : new PoolStarvedException(e.getMessage() + "; " + running, longestUserCode());
    }
  }

  private void planAll(Member member) {
    while (member == planner) {
      Entry next = pipeline.nextToPlan();
      if (next == null) {
        return;
      }
      long start = System.nanoTime();
      String code = next.source().code();
      Throwable error =
          caught(() -> member.user(Stage.PLAN, next, code, () -> next.plan(counters)));
      pipeline.planned(next, error, System.nanoTime() - start);
    }
  }

  /** Continues planning on a new thread, because an iterator blocks the current one. */
  private void replacePlanner() {
    Member replacement = new Member(planner.getName(), this::planAll);
    planner = replacement; // the old planner ends when its iterator returns
    members.add(replacement);
    replacement.start();
  }

  private void readAll(Member member) {
    for (List<Entry> entries = pipeline.nextToRead();
        !entries.isEmpty();
        entries = pipeline.nextToRead()) {
      makeAll(member, entries);
    }
  }

  private void makeAll(Member member, List<Entry> entries) {
    long start = System.nanoTime();
    Throwable error = entries.size() == 1 ? null : caught(() -> member.read(entries, counters));
    boolean isRead = entries.size() > 1 && error == null;
    Throwable failed = isOfAll(error) ? error : null;
    for (Entry entry : entries) {
      if (failed != null || (error != null && !pipeline.isWanted(entry))) {
        pipeline.finished(entry, null, failed, System.nanoTime() - start);
      } else {
        failed = make(member, entry, isRead, start); // batches after a failed one are not delivered
      }
    }
  }

  /**
   * Returns whether each batch alone would meet the same error as the combined read, after the same
   * wait: a deadline, a lost rank, an interrupt. Otherwise a single batch may be the cause.
   */
  private static boolean isOfAll(Throwable error) {
    return error instanceof DDStoreException;
  }

  /** Makes one batch and returns the failure, or null. */
  private Throwable make(Member member, Entry entry, boolean isRead, long start) {
    LoadedBatch batch = pipeline.batchOf(entry);
    Throwable error =
        caught(
            () -> {
              if (!isRead) {
                member.read(List.of(entry), counters);
              }
              entry.convert(
                  () ->
                      member.user(
                          Stage.TRANSFORM, entry, transformCode, () -> transform.accept(batch)),
                  counters);
            });
    pipeline.finished(entry, batch, error, System.nanoTime() - start);
    return error;
  }

  /** Returns what the work throws; null if nothing. */
  static Throwable caught(Runnable work) {
    try {
      work.run();
      return null;
    } catch (Throwable e) { // code of other languages throws checked exceptions undeclared
      return e;
    }
  }

  /** Returns a time in nanoseconds, at most {@link Long#MAX_VALUE} (292 years). */
  static long nanos(Duration time) {
    try {
      return time.toNanos();
    } catch (ArithmeticException e) {
      return time.isNegative() ? 0 : Long.MAX_VALUE;
    }
  }

  /** Interrupts a user's source that plans batches which are no longer needed. */
  void interruptPlanning() {
    planner.interruptUserCode();
  }

  boolean isMember(Thread thread) {
    return thread instanceof Member member && members.contains(member);
  }

  /** Returns a human-readable description of the busy threads, the longest-running first. */
  private String describeRunning() {
    return running().limit(MOST_DESCRIBED).map(Activity::describe).collect(joining("; "));
  }

  /** Returns the stack of the user code that has run longest; null if it has just begun. */
  private Throwable longestUserCode() {
    return running()
        .filter(activity -> activity.userCode() != null && activity.nanos() >= LONG_NANOS)
        .findFirst()
        .map(Activity::stack)
        .orElse(null);
  }

  private Stream<Activity> running() {
    return members.stream()
        .map(Member::activity)
        .filter(Objects::nonNull)
        .sorted(Comparator.comparingLong(Activity::nanos).reversed());
  }

  /** Waits for the threads after the close; for a pull that ignores its interrupt, briefly. */
  void join(Duration timeout) {
    members.forEach(Member::interruptUserCode);
    long start = System.nanoTime();
    long timeoutNanos = nanos(timeout);
    long grace = Math.min(READ_GRACE_NANOS, timeoutNanos / 2);
    boolean interrupted = awaitEnd(members, start, grace);
    members.forEach(Thread::interrupt);
    interrupted |=
        awaitEnd(
            members.stream().filter(member -> !member.isPulling()).toList(), start, timeoutNanos);
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    for (Member member : members) {
      if (member.isAlive()) {
        throw stillRuns(member, member.isPulling() ? Duration.ofNanos(grace) : timeout);
      }
    }
  }

  private static DeadlineExceededException stillRuns(Member member, Duration waited) {
    Activity activity = member.activity();
    return new DeadlineExceededException(
        "thread %s still runs %s after the close of its loader%s; it frees its batch when it ends"
            .formatted(
                member.getName(), waited, activity == null ? "" : ": " + activity.describe()),
        activity == null ? null : activity.stack());
  }

  /** Waits for threads to end; returns whether this thread was interrupted meanwhile. */
  private static boolean awaitEnd(List<Member> waited, long startNanos, long nanos) {
    boolean interrupted = false;
    for (Member member : waited) {
      long left = nanos - (System.nanoTime() - startNanos);
      while (member.isAlive() && left > 0) {
        try {
          TimeUnit.NANOSECONDS.timedJoin(member, left);
        } catch (InterruptedException e) {
          interrupted = true;
        }
        left = nanos - (System.nanoTime() - startNanos);
      }
    }
    return interrupted;
  }

  /** A thread of the loader that records when it runs user code. */
  private final class Member extends Thread {
    private final Consumer<Member> work;
    private boolean inUserCode;
    private volatile Activity activity;

    Member(String name, Consumer<Member> work) {
      super(name);
      this.work = work;
      setDaemon(true);
    }

    @Override
    public void run() {
      Throwable unexpected = caught(() -> work.accept(this));
      if (unexpected != null) {
        pipeline.fail(unexpected); // otherwise the consumer would wait for this thread
      }
    }

    /** Returns the current activity; null while the thread waits for work. */
    Activity activity() {
      return activity;
    }

    boolean isPulling() {
      Activity now = activity;
      return now != null && now.isPull();
    }

    void read(List<Entry> entries, StageCounters counters) {
      activity = new Activity(this, Stage.READ, entries.get(0), null, System.nanoTime());
      try {
        Entry.read(entries, counters);
      } finally {
        activity = null;
      }
    }

    /** Runs code that may be interrupted, unless the loader is closed; messages call it by name. */
    void user(Stage stage, Entry entry, String name, Runnable code) {
      synchronized (this) {
        if (pipeline.isClosed()) {
          throw new DDStoreException("the loader was closed");
        }
        inUserCode = true;
        activity = new Activity(this, stage, entry, name, System.nanoTime());
      }
      try {
        code.run();
      } finally {
        synchronized (this) {
          inUserCode = false;
          activity = null;
          Thread.interrupted(); // the interrupt was meant for that code alone
        }
      }
    }

    synchronized void interruptUserCode() {
      if (inUserCode) {
        interrupt();
      }
    }
  }
}
