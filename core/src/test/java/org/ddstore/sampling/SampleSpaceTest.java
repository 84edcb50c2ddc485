// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.junit.jupiter.api.Test;

/** Windows, crops and tiles, against loops. */
class SampleSpaceTest {
  private static final Field IMAGE = Field.fixed("image", DType.UINT8, 7, 5, 3);

  @Test
  void enumeratesAllWindowsThatFit() {
    for (int rows = 0; rows < 40; rows++) {
      for (int window = 1; window < 5; window++) {
        for (int stride = 1; stride < 4; stride++) {
          for (int dilation = 1; dilation < 4; dilation++) {
            List<List<Long>> expected = new ArrayList<>();
            for (long first = 0; first + (window - 1L) * dilation < rows; first += stride) {
              List<Long> one = new ArrayList<>();
              for (int i = 0; i < window; i++) {
                one.add(first + (long) i * dilation);
              }
              expected.add(one);
            }
            SampleSpace space =
                Samplers.windows(window, stride, dilation, Samplers.sequential()).space();
            assertThat(space.samples(rows)).isEqualTo(expected.size());
            for (int sample = 0; sample < expected.size(); sample++) {
              long[] room = new long[window + 1];
              space.rows(sample, room, 1);
              assertThat(room)
                  .containsExactly(
                      java.util.stream.LongStream.concat(
                              java.util.stream.LongStream.of(0),
                              expected.get(sample).stream().mapToLong(Long::longValue))
                          .toArray());
            }
          }
        }
      }
    }
  }

  @Test
  void allRowsMatchesTheRowsOfEachSample() {
    for (SampleSpace space : List.of(SampleSpace.ROWS, new WindowSpace(3, 2, 5))) {
      long[] samples = {7, 0, 7, 1_000_000_000_000L};
      int per = space.rowsPerSample();
      long[] expected = new long[3 * per + 1];
      for (int i = 0; i < 3; i++) {
        space.rows(samples[i], expected, i * per);
      }
      long[] room = new long[3 * per + 1];
      space.allRows(samples, 3, room);
      assertThat(room).isEqualTo(expected);
    }
  }

  @Test
  void tilesCoverTheFieldWithoutExceedingIt() {
    for (int height = 1; height <= 7; height++) {
      for (int width = 1; width <= 5; width++) {
        for (int step = 1; step <= Math.min(height, width); step++) {
          Sampler sampler =
              Samplers.overlappingTiles(
                  Samplers.sequential(), IMAGE, new int[] {height, width}, step, step);
          Crop tile = sampler.space().crop().orElseThrow();
          assertThat(tile.shape()).containsExactly(height, width, 3);
          int tiles = (int) sampler.space().samples(1);
          boolean[][] covered = new boolean[7][5];
          int[] origin = new int[3];
          for (int sample = 2 * tiles; sample < 3 * tiles; sample++) {
            tile.origin(0, 0, sample, origin);
            assertThat(origin[2]).isZero();
            for (int y = 0; y < height; y++) {
              for (int x = 0; x < width; x++) {
                covered[origin[0] + y][origin[1] + x] = true;
              }
            }
            long[] row = new long[1];
            sampler.space().rows(sample, row, 0);
            assertThat(row).containsExactly(2);
          }
          long[] none = new long[1];
          sampler.space().rows(-1, none, 0);
          assertThat(none).as("no row").containsExactly(-1);
          for (boolean[] line : covered) {
            assertThat(line).containsOnly(true);
          }
          int grid = ((7 - height + step - 1) / step + 1) * ((5 - width + step - 1) / step + 1);
          assertThat(tiles).isEqualTo(grid);
        }
      }
    }
  }

  /** Also every place of the box is equally likely. */
  @Test
  void cropsAreUniformWithinTheField() {
    Sampler sampler = Samplers.randomCrops(5, Samplers.sequential(), IMAGE, 4, 4);
    Crop crop = sampler.space().crop().orElseThrow();
    long[] places = new long[4 * 2];
    int[] origin = new int[3];
    for (int position = 0; position < 40_000; position++) {
      crop.origin(3, position, 0, origin);
      places[origin[0] * 2 + origin[1]]++;
      assertThat(origin[2]).isZero();
    }
    assertThat(ChiSquare.equal(places)).isLessThan(ChiSquare.limit(7));
    assertThat(crop.shape()).containsExactly(4, 4, 3);
    assertThat(sampler.space().samples(9)).isEqualTo(9);
  }

  @Test
  void cropsDependOnSeedAndEpoch() {
    assertThat(origins(5, 1)).isEqualTo(origins(5, 1)).isNotEqualTo(origins(6, 1));
    assertThat(origins(5, 1)).isNotEqualTo(origins(5, 2));
  }

  private static List<List<Integer>> origins(long seed, long epoch) {
    Crop crop =
        Samplers.randomCrops(seed, Samplers.sequential(), IMAGE, 2, 2).space().crop().orElseThrow();
    List<List<Integer>> all = new ArrayList<>();
    for (int position = 0; position < 20; position++) {
      int[] origin = new int[3];
      crop.origin(epoch, position, position, origin);
      all.add(List.of(origin[0], origin[1]));
    }
    return all;
  }

  @Test
  void rejectsOrdersAndSizesThatDoNotFit() {
    Sampler order = Samplers.sequential();
    refused(() -> Samplers.windows(0, 1, 1, order), "window 0 must be at least 1");
    refused(
        () -> Samplers.tiles(order, IMAGE, 8),
        "dimension 0 of the part [8] outside [1, 7] of image uint8[7, 5, 3]");
    refused(
        () -> Samplers.tiles(order, Field.ragged("p", DType.UINT8), 1),
        "a part [1] of p uint8[?]: give a fixed field and 1 to 0 dimensions");
    refused(
        () -> Samplers.overlappingTiles(order, IMAGE, new int[] {2, 2}, 1),
        "tiles [2, 2] with steps [1]: give as many steps as dimensions");
    refused(
        () -> Samplers.windows(2, 1, 1, Samplers.tiles(order, IMAGE, 2)),
        "samples of samples are not supported");
    refused(
        () -> Samplers.windows(5, 1, 3, order).batchSize(2).epoch(13, new WorldRank(0, 1), 0),
        "13 rows (1 sample an epoch) cannot give the rank one batch of 2");
  }

  private static void refused(Runnable call, String message) {
    assertThatThrownBy(call::run)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }
}
