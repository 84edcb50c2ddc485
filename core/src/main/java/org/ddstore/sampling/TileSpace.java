// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import java.util.Arrays;
import java.util.Optional;

/**
 * A space whose samples are tiles of a fixed field of one row. Tiles lie on a grid, row-major, and
 * those of the last column and line are moved back so that they end with the field. Together they
 * cover the field, unless steps are longer than a tile.
 */
final class TileSpace implements SampleSpace, Crop {
  private final Box tile;
  private final int[] steps;
  private final int[] grid;
  private final int tiles;

  TileSpace(Box tile, int... distances) {
    this.tile = tile;
    this.steps = distances.clone();
    this.grid = new int[tile.dimensions()];
    if (steps.length != grid.length) {
      throw new IllegalArgumentException(
          "%d steps for the %d dimensions of %s"
              .formatted(steps.length, grid.length, tile.field()));
    }
    int count = 1;
    for (int d = 0; d < grid.length; d++) {
      Checks.atLeastOne(steps[d], "step");
      grid[d] = (tile.room(d) + steps[d] - 1) / steps[d] + 1;
      count = Math.multiplyExact(count, grid[d]);
    }
    this.tiles = count;
  }

  @Override
  public long samples(long rows) {
    return Math.multiplyExact(rows, tiles);
  }

  @Override
  public int rowsPerSample() {
    return 1;
  }

  @Override
  public void rows(long sample, long[] rows, int offset) {
    rows[offset] = Math.floorDiv(sample, tiles); // a negative sample belongs to no row
  }

  @Override
  public RowSubset samplesWithin(RowSubset subset) {
    return subset.times(tiles);
  }

  @Override
  public Optional<Crop> crop() {
    return Optional.of(this);
  }

  @Override
  public String field() {
    return tile.field().name();
  }

  @Override
  public int[] shape() {
    return tile.shape();
  }

  @Override
  public void origin(long epoch, long position, long sample, int[] origin) {
    int number = Math.floorMod(sample, tiles);
    for (int d = grid.length - 1; d >= 0; d--) {
      origin[d] = Math.min(number % grid[d] * steps[d], tile.room(d));
      number /= grid[d];
    }
  }

  @Override
  public String describe() {
    return "tiles(%s, steps %s)".formatted(tile, Arrays.toString(steps).replace(" ", ""));
  }
}
