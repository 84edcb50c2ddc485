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

/**
 * The threads of a loader: one that plans batches, so that choosing rows does not hold up reading
 * them, and workers that read and transform. At the end, code of the user's (an iterator, a
 * transform) is interrupted at once, and a read of the store if it takes longer than reads do.
 */
final class Crew {
  /** A read that is not over by then, when nobody wants its rows any more, is interrupted. */
  private static final long READ_GRACE_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** The stack of code of the user's that has run for less is not worth the stop of its thread. */
  private static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final int MOST_DESCRIBED = 4;

  private final Pipeline pipeline;
  private final StageCounters counters;
  private final Consumer<LoadedBatch> transform;
  private final String transformCode;
  private final List<Member> members = new CopyOnWriteArrayList<>();
  private volatile Member planner;

  Crew(Pipeline pipeline, StageCounters counters, LoaderOptions options) {
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

  private void planAll(Member me) {
    while (me == planner) {
      Entry next = pipeline.nextToPlan();
      if (next == null) {
        return;
      }
      long start = System.nanoTime();
      String code = next.source().code();
      Throwable error = caught(() -> me.user(Stage.PLAN, next, code, () -> next.plan(counters)));
      pipeline.planned(next, error, System.nanoTime() - start);
    }
  }

  /** Goes on planning on a new thread, because an iterator keeps the one that there was. */
  private void replacePlanner() {
    Member replacement = new Member(planner.getName(), this::planAll);
    planner = replacement; // the other one ends when its iterator returns
    members.add(replacement);
    replacement.start();
  }

  private void readAll(Member me) {
    for (List<Entry> some = pipeline.nextToRead(); !some.isEmpty(); some = pipeline.nextToRead()) {
      makeAll(me, some);
    }
  }

  private void makeAll(Member me, List<Entry> some) {
    long start = System.nanoTime();
    Throwable together = some.size() == 1 ? null : caught(() -> me.read(some, counters));
    boolean isRead = some.size() > 1 && together == null;
    Throwable failed = isOfAll(together) ? together : null;
    for (Entry entry : some) {
      if (failed != null || (together != null && !pipeline.isWanted(entry))) {
        pipeline.made(entry, null, failed, System.nanoTime() - start);
      } else {
        failed = make(me, entry, isRead, start); // those after a failed one are not given out
      }
    }
  }

  /**
   * Whether each batch alone would meet the same error as those that were read together, and wait
   * for it as long: a deadline, a rank that is lost, an interrupt. Else only one of them may be to
   * blame.
   */
  private static boolean isOfAll(Throwable together) {
    return together instanceof DDStoreException;
  }

  /** Makes one batch, and returns what has failed. */
  private Throwable make(Member me, Entry entry, boolean isRead, long start) {
    LoadedBatch batch = pipeline.batchOf(entry);
    Throwable error =
        caught(
            () -> {
              if (!isRead) {
                me.read(List.of(entry), counters);
              }
              entry.convert(
                  () ->
                      me.user(Stage.TRANSFORM, entry, transformCode, () -> transform.accept(batch)),
                  counters);
            });
    pipeline.made(entry, batch, error, System.nanoTime() - start);
    return error;
  }

  /** What something throws; null if it does not. */
  static Throwable caught(Runnable work) {
    try {
      work.run();
      return null;
    } catch (Throwable e) { // code of other languages throws checked exceptions undeclared
      return e;
    }
  }

  /** Interrupts what a source of the user's does for batches that nobody wants any more. */
  void interruptPlanning() {
    planner.interruptUserCode();
  }

  /** Whether a thread is one of the loader. */
  boolean isMember(Thread thread) {
    return thread instanceof Member member && members.contains(member);
  }

  /** Human-readable: what threads do that do not wait for work, the longest first. */
  String describeRunning() {
    return running().limit(MOST_DESCRIBED).map(Activity::describe).collect(joining("; "));
  }

  /** Where the code of the user's stands that has run longest; null if it has just begun. */
  Throwable longestUserCode() {
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

  /**
   * Waits for the threads to end; the pipeline is closed. For an iterator that ignores its
   * interrupt not longer than reads take: it writes to no memory of a batch.
   *
   * @throws DeadlineExceededException if one goes on; it frees what it has when it ends
   */
  void join(Duration timeout) {
    members.forEach(Member::interruptUserCode);
    long start = System.nanoTime();
    long most = Waits.nanos(timeout);
    long grace = Math.min(READ_GRACE_NANOS, most / 2);
    boolean interrupted = awaitEnd(members, start, grace);
    members.forEach(Thread::interrupt);
    interrupted |=
        awaitEnd(members.stream().filter(member -> !member.isPulling()).toList(), start, most);
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
        "%s still runs %s after the close of its loader%s; it frees its batch when it ends"
            .formatted(
                member.getName(), waited, activity == null ? "" : ": " + activity.describe()),
        activity == null ? null : activity.stack());
  }

  /** Waits so long for threads to end; true if this one was interrupted meanwhile. */
  private static boolean awaitEnd(List<Member> those, long startNanos, long nanos) {
    boolean interrupted = false;
    for (Member member : those) {
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

  /** One thread, of which it is known when it runs code of the user's. */
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
      Throwable unforeseen = caught(() -> work.accept(this));
      if (unforeseen != null) {
        pipeline.fail(unforeseen); // else the consumer would wait for this thread
      }
    }

    /** What it does; null while it waits for work. */
    Activity activity() {
      return activity;
    }

    boolean isPulling() {
      Activity now = activity;
      return now != null && now.isPull();
    }

    /** Reads the rows of some batches together. */
    void read(List<Entry> some, StageCounters into) {
      activity = new Activity(this, Stage.READ, some.get(0), null, System.nanoTime());
      try {
        Entry.read(some, into);
      } finally {
        activity = null;
      }
    }

    /**
     * Runs code that may be interrupted, unless the loader is closed.
     *
     * @param entry the batch that it runs for
     * @param name what it is called in messages
     */
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
          Thread.interrupted(); // meant for that code alone
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
