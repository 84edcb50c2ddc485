// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.ddstore.benchmarks.chaos.Schedule.Step;
import org.ddstore.benchmarks.chaos.Version.Piece;
import org.ddstore.benchmarks.chaos.Version.Read;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The schedule of a campaign and the model of its stores, without Spark. */
class ChaosScheduleTest {
  private static final List<OperationKind> OPERATIONS = List.of(OperationKind.values());
  private static final List<FaultKind> FAULTS = List.of(FaultKind.KILL, FaultKind.STOP);
  private static final int DECK = OPERATIONS.size() * FAULTS.size() * 4;

  private static final Piece FIRST = new Piece(5, 10);
  private static final Piece SECOND = new Piece(6, 3);
  private static final Version BEFORE = Version.of(FIRST);
  private static final Version AFTER = BEFORE.with(SECOND);

  @TempDir Path directory;

  private static List<Step> steps(long seed, int first) {
    Schedule schedule = new Schedule(seed, OPERATIONS, FAULTS);
    return IntStream.range(first, first + DECK).mapToObj(schedule::step).toList();
  }

  private static Read row(Version version, long index) {
    long position = index < FIRST.rows() ? index : index - FIRST.rows();
    long content = version.pieces().get(index < FIRST.rows() ? 0 : 1).content();
    long value = (position * 1_000_003 + content * 10_007) % Integer.MAX_VALUE;
    String text = "t" + "-".repeat((int) (value % 7)) + value;
    return new Read(index, content, position, value, value % 4096, position % 4096, text);
  }

  private Observation read(StoreModel model, Version actual) {
    Observation found = new Observation(model.possible(), directory.toString());
    found.number("rows", Version::rows, actual.rows());
    for (long index = 0; index < actual.rows(); index++) {
      found.row(row(actual, index));
    }
    return found;
  }

  @Test
  void seedDecidesTheSteps() {
    assertThat(steps(3, 0)).isEqualTo(steps(3, 0)).isNotEqualTo(steps(4, 0));
    Schedule schedule = new Schedule(3, OPERATIONS, FAULTS);
    assertThat(schedule.step(77)).isEqualTo(steps(3, 70).get(7));
    assertThat(schedule.background(9))
        .isEqualTo(new Schedule(3, OPERATIONS, FAULTS).background(9))
        .isNotEqualTo(schedule.background(10));
  }

  @Test
  void deckHasEachFaultInEachOperation() {
    record Pair(OperationKind operation, FaultKind fault) {}
    Set<Pair> pairs = new HashSet<>();
    for (Step step : steps(11, DECK)) {
      pairs.add(new Pair(step.operation(), step.fault().kind()));
      assertThat(step.fault().delayMs()).isBetween(-1, step.operation().typicalMs());
      assertThat(step.fault().durationMs())
          .isBetween(0, 1000 * Math.max(1, step.fault().kind().maxSeconds()));
    }
    assertThat(pairs).hasSize(OPERATIONS.size() * (FAULTS.size() + 1));
  }

  @Test
  void versionFindsRowsOfAnotherOne() {
    assertThat(AFTER.difference(row(AFTER, 11))).isEmpty();
    assertThat(BEFORE.difference(row(AFTER, 11))).isPresent();
    assertThat(Version.of(SECOND).difference(row(AFTER, 2))).isPresent();
    assertThat(AFTER.sum(8, 12))
        .isEqualTo(IntStream.range(8, 12).mapToLong(index -> row(AFTER, index).value()).sum());
  }

  @Test
  void readDecidesAWriteInDoubt() {
    StoreModel model = new StoreModel();
    model.written(BEFORE);
    model.failed(AFTER);
    assertThat(model.possible()).containsExactly(BEFORE, AFTER);

    assertThat(model.observed(read(model, BEFORE))).isEmpty();
    assertThat(model.possible()).containsExactly(BEFORE);
    assertThat(model.observed(read(model, AFTER)))
        .hasValueSatisfying(
            problem -> assertThat(problem).startsWith("no version explains a read"));
  }

  @Test
  void writeThatThrewMustNotBeInForce() {
    StoreModel model = new StoreModel();
    model.written(BEFORE);
    model.failed(AFTER);

    assertThat(model.observed(read(model, AFTER)))
        .hasValueSatisfying(
            problem -> assertThat(problem).startsWith("a write that threw is in force"));
    assertThat(model.possible()).containsExactly(AFTER);
  }

  /** A read that fails after this, or is repeated, must not forget it. */
  @Test
  void wrongRowsAreKept() throws IOException {
    StoreModel model = new StoreModel();
    model.written(BEFORE);
    Observation found = new Observation(model.possible(), directory.toString());
    found.row(row(AFTER, 11));

    assertThat(Observation.takeEvidence(directory)).singleElement().asString().contains("row 11");
    assertThat(Observation.takeEvidence(directory)).isEmpty();
  }

  @Test
  void lostAndDoubledRowsAreFound() {
    StoreModel model = new StoreModel();
    model.written(BEFORE);
    Observation lost = new Observation(model.possible(), directory.toString());
    lost.rowOnce(row(BEFORE, 0));
    Observation doubled = lost.copy();
    doubled.rowOnce(row(BEFORE, 0));
    doubled.add(lost);
    lost.visitedAll(0, 2);

    assertThat(lost.toString()).contains("row 1 is not read");
    assertThat(doubled.toString()).contains("row 0 is read twice");
  }

  @Test
  void versionsOfOneReadMustAgree() {
    StoreModel model = new StoreModel();
    model.written(Version.of(SECOND));
    model.failed(BEFORE);
    Observation mixed = new Observation(model.possible(), directory.toString());
    mixed.row(row(BEFORE, 0));
    Observation other = new Observation(model.possible(), directory.toString());
    other.row(new Read(1, SECOND.content(), 1, 1, 0, 0, "t"));
    mixed.add(other);

    assertThat(mixed.explained()).isEmpty();
    assertThat(model.observed(mixed)).isPresent();
  }
}
