// SPDX-License-Identifier: Apache-2.0
package org.ddstore.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
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
    "1024, 1000000, 10",
    "1024, 300, 10",
    "5000, 8796093022207, 20",
    "100000, 1099511627776, 17"
  })
  void sortsAsAComparisonDoes(int count, long indices, int positionBits) {
    Random random = new Random(count);
    for (int repetition = 0;
        repetition < 3;
        repetition++) { // the arrays of the last are used again
      long[] keys = new long[count + random.nextInt(10)];
      for (int position = 0; position < count; position++) {
        keys[position] = random.nextLong(indices) << positionBits | position;
      }
      long[] expected = Arrays.copyOf(keys, count);
      Arrays.sort(expected);

      assertThat(Arrays.copyOf(sort.sort(keys, count, positionBits), count)).isEqualTo(expected);
    }
  }
}
