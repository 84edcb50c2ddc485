// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.ddstore.sampling.Crop;
import org.ddstore.sampling.Samplers;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.junit.jupiter.api.Test;

/** Boxes lie where the samplers of crops and tiles place them. */
class BoxPlanTest {
  private static final int[] VOLUME = {50, 41, 7};
  private static final int[] BOX = {8, 10, 7};
  private static final long[] ROOM = {42, 31, 0};
  private static final Field FIELD = Field.fixed("volume", DType.FLOAT32, VOLUME);

  private static List<List<Integer>> origins(BoxPlan plan) {
    List<List<Integer>> origins = new ArrayList<>();
    long[] origin = new long[3];
    for (long box = 0; box < plan.boxes(); box++) {
      plan.origins().write(box, origin);
      origins.add(Arrays.stream(origin).mapToObj(Math::toIntExact).toList());
    }
    return origins;
  }

  private static List<Integer> origin(Crop crop, long epoch, long position, long sample) {
    int[] origin = new int[3];
    crop.origin(epoch, position, sample, origin);
    return IntStream.of(origin).boxed().toList();
  }

  @Test
  void cropsAreThoseOfTheSampler() {
    Crop crop =
        Samplers.randomCrops(-9, Samplers.sequential(), FIELD, BOX).space().crop().orElseThrow();
    for (long epoch : new long[] {0, 3}) {
      List<List<Integer>> expected =
          IntStream.range(100, 150).mapToObj(at -> origin(crop, epoch, at, at)).toList();

      assertThat(origins(new BoxPlan.Crops(ROOM, 50, -9, epoch, 0).startingAt(100)))
          .isEqualTo(expected);
    }
  }

  @Test
  void volumesCanHaveMoreElementsThanAField() {
    long[] room = {1_000_000, 1_000_000, 1_000_000};
    List<List<Integer>> origins = origins(new BoxPlan.Crops(room, 1000, 1, 0, 0));

    assertThat(origins).doesNotHaveDuplicates();
    for (int axis = 0; axis < 3; axis++) {
      int d = axis;
      assertThat(origins.stream().mapToInt(origin -> origin.get(d)).average().orElseThrow())
          .isBetween(450_000.0, 550_000.0);
    }
  }

  @Test
  void tilesOfHugeVolumesAreCounted() {
    BoxPlan plan =
        BoxPlan.Tiles.of(
            new long[] {0, Long.MAX_VALUE - 1}, new int[] {1, Integer.MAX_VALUE}, true);
    long[] origin = new long[2];
    plan.origins().write(plan.boxes() - 1, origin);

    assertThat(plan.boxes()).isEqualTo(4_294_967_299L);
    assertThat(origin).containsExactly(0, Long.MAX_VALUE - 1);
    assertThat(plan.run(1 << 20)).isEqualTo(1);
  }
}
