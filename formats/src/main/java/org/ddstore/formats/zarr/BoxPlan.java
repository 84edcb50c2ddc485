// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import java.io.Serializable;
import java.util.Arrays;
import org.ddstore.sampling.Crop;
import org.ddstore.sampling.Samplers;
import org.ddstore.types.DType;
import org.ddstore.types.Field;

/** The origins of the boxes of a volume by their number. */
sealed interface BoxPlan extends Serializable {
  long boxes();

  /**
   * Returns the number of consecutive boxes that are read together because they share chunks: 1, or
   * the boxes of some of the last dimensions.
   */
  long run(long maxBoxes);

  /** Returns a function for one thread. */
  Origins origins();

  @FunctionalInterface
  interface Origins {
    /** Writes the first element in each dimension of the box with a number. */
    void write(long box, long[] origin);
  }

  /**
   * Tiles on a grid, row-major.
   *
   * @param room how far a box can be moved in each dimension
   * @param stride distance of neighbours
   * @param grid number of tiles in each dimension
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Tiles(long[] room, int[] stride, long[] grid) implements BoxPlan {
    /**
     * Returns the tiles of a volume.
     *
     * @param shift whether a last tile that would end outside is moved back to end with the volume,
     *     else left out
     */
    static Tiles of(long[] room, int[] stride, boolean shift) {
      long[] grid = new long[room.length];
      for (int d = 0; d < room.length; d++) {
        long distance = stride[d];
        boolean isMoved = shift && room[d] % distance > 0;
        grid[d] = room[d] / distance + (isMoved ? 2 : 1);
      }
      return new Tiles(room, stride, grid);
    }

    @Override
    public long boxes() {
      return Arrays.stream(grid).reduce(1, Math::multiplyExact);
    }

    @Override
    public long run(long maxBoxes) {
      long boxes = 1;
      for (int d = grid.length - 1; d >= 1 && grid[d] <= maxBoxes / boxes; d--) {
        boxes *= grid[d];
      }
      return boxes;
    }

    @Override
    public Origins origins() {
      return (box, origin) -> {
        long number = box;
        for (int d = grid.length - 1; d >= 0; d--) {
          origin[d] = Math.min(number % grid[d] * stride[d], room[d]);
          number /= grid[d];
        }
      };
    }
  }

  /**
   * Random boxes, drawn as those of {@link Samplers#randomCrops}.
   *
   * @param room how far a box can be moved in each dimension
   * @param boxes number of boxes
   * @param position position of the first box in the epoch
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Crops(long[] room, long boxes, long seed, long epoch, long position) implements BoxPlan {
    @Override
    public long run(long maxBoxes) {
      return 1;
    }

    /** Returns the same boxes of a file whose first box has a position in the epoch. */
    Crops startingAt(long first) {
      return new Crops(room, boxes, seed, epoch, first);
    }

    @Override
    public Origins origins() {
      // A field can have 2^31 elements, a volume more: one field for each axis gives the same
      // draws.
      Crop[] axes = new Crop[room.length];
      for (int d = 0; d < axes.length; d++) {
        int[] shape = new int[room.length];
        Arrays.fill(shape, 1);
        int[] box = shape.clone();
        shape[d] = Math.toIntExact(room[d] + 1);
        Field axis = Field.fixed("axis", DType.UINT8, shape);
        axes[d] =
            Samplers.randomCrops(seed, Samplers.sequential(), axis, box)
                .space()
                .crop()
                .orElseThrow();
      }
      int[] places = new int[room.length];
      return (box, origin) -> {
        for (int d = 0; d < axes.length; d++) {
          axes[d].origin(epoch, position + box, box, places);
          origin[d] = places[d];
        }
      };
    }
  }
}
