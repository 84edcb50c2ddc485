// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.ddstore.memory.HostMemory;
import org.ddstore.sampling.SampleSpace;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Places for batches of which it is not known what they take. */
class MemoryBudgetTest extends OnSamples {
  private static final int BATCH = 600;
  private static final List<Slot> NONE_IDLE = List.of();

  private final List<Slot> slots = new ArrayList<>();
  private Recipe recipe;

  @BeforeEach
  void makeSlots() {
    recipe =
        Recipe.of(
            samples.rows(),
            SampleSpace.ROWS,
            LoaderOptions.defaults().fields("points"),
            HostMemory.plain("a test"));
    for (int i = 0; i < 3; i++) {
      slots.add(new Slot(recipe));
    }
  }

  @AfterEach
  void freeSlots() {
    slots.forEach(Slot::free);
  }

  private static void read(Slot slot, int points) {
    long[] rows = slot.plan().begin(0, 0, BATCH);
    for (int i = 0; i < BATCH; i++) {
      rows[i] = 5L * (i % 40) + points;
    }
    slot.locate();
    Slot.readRows(List.of(slot));
    slot.convert();
  }

  @Test
  void expectsTheMeasuredSizeOfAllReservedBatches() {
    MemoryBudget budget = new MemoryBudget(80_000, recipe);
    assertThat(budget.tryReserve(slots.get(0), BATCH, NONE_IDLE)).isTrue();
    assertThat(budget.tryReserve(slots.get(1), BATCH, NONE_IDLE))
        .as("the first is alone")
        .isFalse();
    read(slots.get(0), 0);
    budget.recordSize(slots.get(0), BATCH);
    assertThat(budget.tryReserve(slots.get(1), BATCH, NONE_IDLE)).isTrue();
    assertThat(budget.tryReserve(slots.get(2), BATCH, NONE_IDLE)).isTrue();

    read(slots.get(0), 4);
    budget.recordSize(slots.get(0), BATCH);
    long large = slots.get(0).takenBytes();
    assertThat(budget.expectedBytes(BATCH)).isEqualTo(large).isBetween(27_000L, 40_000L);
    assertThat(budget.tryKeep(slots.get(1), BATCH, NONE_IDLE)).isFalse();

    budget.giveUp(slots.get(2));
    assertThat(budget.tryKeep(slots.get(1), BATCH, NONE_IDLE)).isTrue();
    budget.keep(slots.get(2), BATCH);
    assertThat(budget).hasToString("%,d of 80,000 bytes".formatted(3 * large));
  }
}
