// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.chaos;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.ddstore.benchmarks.chaos.Schedule.Fault;
import org.ddstore.local.ExitCleanup;

/**
 * Injects the faults of a round, in another process than the driver. {@link #close()}, or the end
 * of this JVM, ends all faults that are in force.
 */
final class Injector implements AutoCloseable {
  private static final long END_SECONDS = 60;
  private static final String SOFT_LIMIT_ONE = "--nofile=1:";

  private final Site site;
  private final Process driver;
  private final Journal journal;
  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final List<Interval> intervals = new ArrayList<>();
  private final List<Runnable> undone = new ArrayList<>();
  private final Set<ProcessHandle> executors = new HashSet<>(); // not ids, which are used again
  private final ExitCleanup cleanup = new ExitCleanup("ddstore-chaos-faults", this::endAll);
  private Schedule.Step step; // null between operations

  /** A fault from its begin to its end. */
  private static final class Interval {
    final FaultKind kind;
    final long startNs;
    long endNs = Long.MAX_VALUE;

    Interval(FaultKind kind, long startNs) {
      this.kind = kind;
      this.startNs = startNs;
    }

    boolean meets(long fromNs, long toNs) {
      long graceNs = TimeUnit.SECONDS.toNanos(kind.graceSeconds());
      return startNs <= toNs && (endNs == Long.MAX_VALUE || endNs + graceNs >= fromNs);
    }
  }

  Injector(Site site, Process driver, Journal journal) {
    this.site = site;
    this.driver = driver;
    this.journal = journal;
  }

  /** Begins a step: its fault comes before this method returns, or later. */
  void begin(Schedule.Step next) {
    synchronized (this) {
      step = next;
    }
    if (next.operation() == OperationKind.REPAIR) {
      inject(new Fault(FaultKind.KILL, (int) (next.seed() & 0xFF), -1, 0), next);
    }
    Fault fault = next.fault();
    if (fault.kind() == FaultKind.NONE) {
      return;
    }
    if (fault.delayMs() < 0 || fault.kind() == FaultKind.SPECULATION) {
      inject(fault, next);
    } else {
      schedule(() -> inject(fault, next), fault.delayMs());
    }
  }

  /** Ends the step; a fault that has not come by now is left out. */
  synchronized void end() {
    step = null;
  }

  /** Injects the random faults of a schedule, one after the other, from a number on. */
  void background(Schedule schedule, int number) {
    Fault fault = schedule.background(number);
    if (fault.kind() != FaultKind.NONE) {
      schedule(
          () -> {
            inject(fault, null);
            background(schedule, number + 1);
          },
          fault.delayMs());
    }
  }

  private void schedule(Runnable task, int delayMs) {
    if (!timer.isShutdown()) {
      ScheduledFuture<?> ignored = timer.schedule(task, delayMs, TimeUnit.MILLISECONDS);
    }
  }

  /**
   * Injects a fault.
   *
   * @param only step without which the fault is left out, or null
   */
  private synchronized void inject(Fault fault, Schedule.Step only) {
    if (only != null && !only.equals(step)) {
      return;
    }
    Interval interval = new Interval(fault.kind(), System.nanoTime());
    try {
      String what = apply(fault, interval);
      if (what == null) {
        return;
      }
      intervals.add(interval);
      journal.fault(fault.kind(), step == null ? null : step.operation());
      journal.event(
          "fault %s%s%s"
              .formatted(
                  what,
                  fault.durationMs() == 0 ? "" : " for %d ms".formatted(fault.durationMs()),
                  only == null ? ", at random" : ""));
    } catch (IOException e) {
      journal.event("fault %s could not be injected: %s".formatted(fault.kind(), e));
    }
  }

  /** Returns what was done, or null if there is nothing to do it to. */
  private String apply(Fault fault, Interval interval) throws IOException {
    return switch (fault.kind()) {
      case KILL, STOP, DESCRIPTORS -> onExecutor(fault, interval);
      case PAUSE -> {
        stop(driver.toHandle(), fault, interval);
        yield "pause of the driver";
      }
      case FULL -> {
        site.fill(fault.victim());
        undoAfter(fault, interval, () -> site.free(fault.victim()));
        yield "full shared memory";
      }
      case LINK -> {
        site.cut(fault.victim());
        undoAfter(fault, interval, site::restoreLink);
        yield "link down";
      }
      case SPECULATION -> {
        interval.endNs = interval.startNs;
        yield "speculation";
      }
      case NONE -> null;
    };
  }

  private String onExecutor(Fault fault, Interval interval) throws IOException {
    List<ProcessHandle> running = executors();
    if (running.isEmpty()) {
      return null;
    }
    ProcessHandle victim = running.get(fault.victim() % running.size());
    if (fault.kind() == FaultKind.KILL) {
      victim.destroyForcibly();
      interval.endNs = interval.startNs;
    } else if (fault.kind() == FaultKind.STOP) {
      stop(victim, fault, interval);
    } else {
      String limit = softLimit(victim);
      limitDescriptors(victim, SOFT_LIMIT_ONE);
      undoAfter(fault, interval, () -> limitDescriptors(victim, "--nofile=" + limit + ":"));
    }
    return "%s of executor process %d".formatted(fault.kind(), victim.pid());
  }

  /** Returns the executors that run, and remembers them. */
  synchronized List<ProcessHandle> executors() {
    List<ProcessHandle> running = site.executors();
    executors.addAll(running);
    return running;
  }

  /** Returns the processes of all executors that were seen. */
  synchronized Set<ProcessHandle> seen() {
    return Set.copyOf(executors);
  }

  private void stop(ProcessHandle victim, Fault fault, Interval interval) throws IOException {
    run("kill", "-STOP", "" + victim.pid());
    undoAfter(
        fault,
        interval,
        () -> {
          if (victim.isAlive()) {
            run("kill", "-CONT", "" + victim.pid());
          }
        });
  }

  private static String softLimit(ProcessHandle process) throws IOException {
    return output("prlimit", "--pid", "" + process.pid(), "--nofile", "-o", "SOFT", "--noheadings")
        .strip();
  }

  private static void limitDescriptors(ProcessHandle process, String limit) throws IOException {
    if (process.isAlive()) {
      run("prlimit", "--pid", "" + process.pid(), limit);
    }
  }

  private static void run(String... command) throws IOException {
    String ignored = output(command);
  }

  private static String output(String... command) throws IOException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.onExit().join().exitValue() != 0) {
      throw new IOException("%s: %s".formatted(String.join(" ", command), output.strip()));
    }
    return output;
  }

  /** An end of a fault. */
  private interface Undo {
    void run() throws IOException;
  }

  private void undoAfter(Fault fault, Interval interval, Undo undo) {
    Runnable once =
        new Runnable() {
          @Override
          public void run() {
            synchronized (Injector.this) {
              if (!undone.remove(this)) {
                return;
              }
              try {
                undo.run();
              } catch (IOException e) {
                journal.event("%s could not be ended: %s".formatted(fault.kind(), e));
              }
              interval.endNs = System.nanoTime();
              journal.event("end of %s".formatted(fault.kind()));
            }
          }
        };
    undone.add(once);
    schedule(once, fault.durationMs());
  }

  /** Returns whether a fault, or its effect, was in force between two times. */
  synchronized boolean hasFault(long fromNs, long toNs) {
    return intervals.stream().anyMatch(each -> each.meets(fromNs, toNs));
  }

  private void endAll() {
    timer.shutdownNow();
    try {
      if (!timer.awaitTermination(END_SECONDS, TimeUnit.SECONDS)) {
        journal.event("the injector of faults does not end");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    List.copyOf(undone).forEach(Runnable::run);
  }

  @Override
  public void close() {
    cleanup.close();
  }
}
