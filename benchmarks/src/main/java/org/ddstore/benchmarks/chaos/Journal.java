// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.chaos;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/** The events, counts and findings of a campaign. Thread-safe. */
final class Journal {
  private static final int TIMELINE = 40;
  private static final int MAX_LINE_CHARS = 400;

  /**
   * A finding.
   *
   * @param operation number and kind of the operation
   * @param timeline last events before the first finding, empty for the others
   */
  record Entry(String problem, String operation, String text, List<String> timeline) {}

  private final long startNs = System.nanoTime();
  private final Deque<String> events = new ArrayDeque<>();
  private final List<Entry> findings = new ArrayList<>();
  private final Map<OperationKind, Integer> operations = new EnumMap<>(OperationKind.class);
  private final Map<OperationKind, Integer> failures = new EnumMap<>(OperationKind.class);
  private final Map<OperationKind, Map<FaultKind, Integer>> matrix =
      new EnumMap<>(OperationKind.class);
  private final Consumer<String> listener;
  private int faults;

  /**
   * @param listener receives each event
   */
  Journal(Consumer<String> listener) {
    this.listener = listener;
  }

  /** Notes an event, of which the timeline has the first line. */
  synchronized void event(String text) {
    String first = text.lines().findFirst().orElse("");
    String line =
        String.format(
            Locale.ROOT,
            "%8.3f s  %s",
            (System.nanoTime() - startNs) / 1e9,
            first.substring(0, Math.min(MAX_LINE_CHARS, first.length())));
    events.add(line);
    if (events.size() > TIMELINE) {
      events.remove();
    }
    listener.accept(line);
  }

  synchronized void operation(OperationKind kind, boolean succeeded) {
    operations.merge(kind, 1, Integer::sum);
    if (!succeeded) {
      failures.merge(kind, 1, Integer::sum);
    }
  }

  /**
   * Counts a fault.
   *
   * @param during operation that it hits, or null
   */
  synchronized void fault(FaultKind kind, OperationKind during) {
    faults++;
    if (during != null) {
      matrix
          .computeIfAbsent(during, any -> new EnumMap<>(FaultKind.class))
          .merge(kind, 1, Integer::sum);
    }
  }

  synchronized void finding(String problem, String operation, String text) {
    event("FINDING %s in %s: %s".formatted(problem, operation, text));
    List<String> timeline = findings.isEmpty() ? List.copyOf(events) : List.of();
    findings.add(new Entry(problem, operation, text, timeline));
  }

  synchronized List<Entry> findings() {
    return List.copyOf(findings);
  }

  synchronized long findings(Message.Problem problem) {
    return findings.stream().filter(each -> each.problem().equals(problem.toString())).count();
  }

  synchronized int operations() {
    return operations.values().stream().mapToInt(Integer::intValue).sum();
  }

  synchronized int operations(OperationKind kind) {
    return operations.getOrDefault(kind, 0);
  }

  synchronized int failures(OperationKind kind) {
    return failures.getOrDefault(kind, 0);
  }

  synchronized int faults() {
    return faults;
  }

  synchronized int faults(OperationKind during, FaultKind kind) {
    return matrix.getOrDefault(during, Map.of()).getOrDefault(kind, 0);
  }
}
