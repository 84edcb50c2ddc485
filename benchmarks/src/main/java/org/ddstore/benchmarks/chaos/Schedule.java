// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.chaos;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * The operations and faults of a campaign, a pure function of the seed and the kinds. It is dealt
 * in decks: each deck has each kind of operation once with each kind of fault, and three times as
 * often without a fault.
 */
record Schedule(long seed, List<OperationKind> operations, List<FaultKind> faults) {
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;
  private static final long BACKGROUND = 0x6261636B67726F75L;
  private static final int STORES = 3;
  private static final int PLAIN_PER_FAULT = 3;
  private static final int MAX_GAP_SECONDS = 120;

  /** Probability of a fault that is in force when its operation begins. */
  private static final double BEFORE = 0.2;

  /**
   * An operation with its fault.
   *
   * @param store number of the store that it works on
   * @param seed seed of all other choices
   */
  record Step(int number, OperationKind operation, int store, long seed, Fault fault) {}

  /**
   * A fault.
   *
   * @param victim number that chooses among the processes of the moment
   * @param delayMs time from the begin of the operation to the fault, -1 if the fault comes first
   * @param durationMs time to the end of the fault
   */
  record Fault(FaultKind kind, int victim, int delayMs, int durationMs) {
    static final Fault NONE = new Fault(FaultKind.NONE, 0, 0, 0);
  }

  Schedule {
    operations = List.copyOf(operations);
    faults = List.copyOf(faults);
  }

  private record Card(OperationKind operation, FaultKind fault) {}

  private List<Card> deck(int number) {
    List<Card> cards = new ArrayList<>();
    for (OperationKind operation : operations) {
      for (FaultKind fault : faults) {
        cards.add(new Card(operation, fault));
      }
      for (int i = 0; i < plainCards(); i++) {
        cards.add(new Card(operation, FaultKind.NONE));
      }
    }
    Collections.shuffle(cards, new Random(mix(seed, number)));
    return cards;
  }

  /** Returns the number of cards without a fault of each operation in a deck. */
  private int plainCards() {
    return Math.max(1, PLAIN_PER_FAULT * faults.size());
  }

  /** Returns the step of a number, from 0. */
  Step step(int number) {
    int size = operations.size() * (faults.size() + plainCards());
    Card card = deck(number / size).get(number % size);
    Random random = new Random(mix(seed ^ GOLDEN, number));
    int store = random.nextInt(STORES);
    long choices = random.nextLong();
    return new Step(
        number,
        card.operation(),
        store,
        choices,
        fault(card.fault(), random, card.operation().typicalMs()));
  }

  private static Fault fault(FaultKind kind, Random random, int typicalMs) {
    if (kind == FaultKind.NONE) {
      return Fault.NONE;
    }
    int victim = random.nextInt(1 << 20);
    double part = random.nextDouble(); // squared: a late fault misses a quick operation
    int delayMs = random.nextDouble() < BEFORE ? -1 : (int) (typicalMs * part * part);
    return new Fault(kind, victim, delayMs, duration(kind, random));
  }

  /** Most durations are short, so that a campaign has many; each up to the longest occurs. */
  private static int duration(FaultKind kind, Random random) {
    if (kind.maxSeconds() == 0) {
      return 0;
    }
    double part = Math.pow(random.nextDouble(), 6);
    return 1000 + (int) (part * (kind.maxSeconds() - 1) * 1000);
  }

  /**
   * Returns a fault that is injected whatever runs.
   *
   * @param number number of the fault, from 0; its delay is the time after the fault before
   */
  Fault background(int number) {
    Random random = new Random(mix(seed ^ BACKGROUND, number));
    List<FaultKind> kinds = faults.stream().filter(kind -> kind != FaultKind.SPECULATION).toList();
    if (kinds.isEmpty()) {
      return Fault.NONE;
    }
    FaultKind kind = kinds.get(random.nextInt(kinds.size()));
    int delayMs = 1000 * (1 + random.nextInt(MAX_GAP_SECONDS));
    return new Fault(kind, random.nextInt(1 << 20), delayMs, duration(kind, random));
  }

  private static long mix(long seed, int number) {
    long mixed = (seed + number * GOLDEN) * 0xBF58476D1CE4E5B9L;
    return mixed ^ (mixed >>> 29);
  }
}
