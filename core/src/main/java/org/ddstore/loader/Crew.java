package org.ddstore.loader;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.ddstore.DDStoreException;
import org.ddstore.DeadlineExceededException;

/**
 * The threads of a loader: one that plans batches, so that choosing rows does not hold up reading
 * them, and workers that read and transform. At the end, code of the user's (an iterator, a
 * transform) is interrupted at once, and a read of the store if it takes longer than reads do.
 */
final class Crew {
  /** A read that is not over by then, when nobody wants its rows any more, is interrupted. */
  private static final long READ_GRACE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Pipeline pipeline;
  private final StageCounters counters;
  private final Consumer<LoadedBatch> transform;
  private final List<Member> members = new ArrayList<>();

  Crew(Pipeline pipeline, StageCounters counters, LoaderOptions options) {
    this.pipeline = pipeline;
    this.counters = counters;
    this.transform = options.transform();
    members.add(new Member("ddstore-loader-plan", this::planAll));
    for (int worker = 0; worker < options.workers(); worker++) {
      members.add(new Member("ddstore-loader-read-" + worker, this::readAll));
    }
    try {
      members.forEach(Thread::start);
    } catch (OutOfMemoryError e) { // the system has no thread to give
      pipeline.close();
      throw e;
    }
  }

  private void planAll(Member me) {
    for (Entry entry = pipeline.nextToPlan(); entry != null; entry = pipeline.nextToPlan()) {
      Entry next = entry;
      long start = System.nanoTime();
      Throwable error = caught(() -> me.user(() -> next.plan(counters)));
      pipeline.planned(entry, error, System.nanoTime() - start);
    }
  }

  private void readAll(Member me) {
    for (List<Entry> some = pipeline.nextToRead(); !some.isEmpty(); some = pipeline.nextToRead()) {
      makeAll(me, some);
    }
  }

  private void makeAll(Member me, List<Entry> some) {
    long start = System.nanoTime();
    Throwable together = some.size() == 1 ? null : caught(() -> Entry.read(some, counters));
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
                Entry.read(List.of(entry), counters);
              }
              entry.convert(() -> me.user(() -> transform.accept(batch)), counters);
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
    members.get(0).interruptUserCode();
  }

  /**
   * Waits for the threads to end; the pipeline is closed.
   *
   * @throws DeadlineExceededException if one goes on; it frees what it has when it ends
   */
  void join(Duration timeout) {
    members.forEach(Member::interruptUserCode);
    long start = System.nanoTime();
    long most = Waits.nanos(timeout);
    boolean interrupted = awaitEnd(start, Math.min(READ_GRACE_NANOS, most / 2));
    members.forEach(Thread::interrupt);
    interrupted |= awaitEnd(start, most);
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    for (Member member : members) {
      if (member.isAlive()) {
        throw new DeadlineExceededException(
            "%s still runs %s after the close of its loader; it frees its batch when it ends"
                .formatted(member.getName(), timeout));
      }
    }
  }

  /** Waits so long for all threads to end; true if this one was interrupted meanwhile. */
  private boolean awaitEnd(long startNanos, long nanos) {
    boolean interrupted = false;
    for (Member member : members) {
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

    /** Runs code that may be interrupted, unless the loader is closed. */
    void user(Runnable code) {
      synchronized (this) {
        if (pipeline.isClosed()) {
          throw new DDStoreException("the loader was closed");
        }
        inUserCode = true;
      }
      try {
        code.run();
      } finally {
        synchronized (this) {
          inUserCode = false;
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
