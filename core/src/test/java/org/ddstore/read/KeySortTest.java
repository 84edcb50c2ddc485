// SPDX-License-Identifier: Apache-2.0
package org.ddstore.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KeySortTest {
  private final KeySort sort = new KeySort();

  @ParameterizedTest(name = "{0} keys, indices below {1}, {2} bits of position")
  @CsvSource({
    "1, 10, 1",
    "127, 1000, 7",
    "128, 1, 7",
    "128, 200, 7",
    "129, 70000, 8",
    "1024, 1000000, 10",
    "1024, 300, 10",
    "5000, 8796093022207, 20",
    "100000, 1099511627776, 17"
  })
  void sortsAsAComparisonDoes(int count, long indices, int positionBits) {
    assertSorts(new Random(count), count, indices, positionBits);
  }

  /** The memory of the sort is that of the largest batch so far. */
  @Test
  void sortsBatchesOfDifferentSizes() {
    Random random = new Random(3);
    for (int count : new int[] {200, 5000, 127, 128, 129, 20_000, 1, 300, 20_001}) {
      assertSorts(random, count, 1L << (8 + random.nextInt(30)), 15);
    }
  }

  private void assertSorts(Random random, int count, long indices, int positionBits) {
    long[] keys = random.longs(count + random.nextInt(10)).toArray(); // the rest is not sorted
    for (int position = 0; position < count; position++) {
      keys[position] = random.nextLong(indices) << positionBits | position;
    }
    long[] expected = keys.clone();
    Arrays.sort(expected, 0, count);

    sort.sort(keys, count, positionBits);

    assertThat(keys).isEqualTo(expected);
  }
}
