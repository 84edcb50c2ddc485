// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import java.util.Arrays;
import java.util.Objects;
import org.ddstore.types.Field;

/**
 * Factory for the built-in samplers. Each is deterministic in its arguments and the epoch: every
 * rank gets the same order. Custom samplers implement {@link Sampler}. Arrays are copied before
 * they are checked.
 */
public final class Samplers {
  private Samplers() {}

  /** {@return a sampler of rows by index} */
  public static Sampler sequential() {
    return new SequentialSampler();
  }

  /**
   * {@return a sampler of all rows in random order, by a keyed permutation: no list of rows is
   * made, an epoch can begin anywhere, and the order is the same for every number of ranks} In each
   * pair of consecutive epochs 2k and 2k + 1, every row is read at least once, however many are
   * dropped.
   *
   * @param seed seed of the order; any number
   */
  public static Sampler shuffled(long seed) {
    return new ShuffledSampler(seed);
  }

  /**
   * {@return a sampler of blocks of neighbouring rows in random order, with the rows shuffled
   * within windows of several blocks: less random than {@link #shuffled}, but suited to storage
   * that reads ahead}
   *
   * @param seed seed of the order; any number
   * @param blockRows rows per block, at least 1
   * @param windowBlocks blocks per window, at least 1; a window must be a multiple of the batch
   */
  public static Sampler chunked(long seed, int blockRows, int windowBlocks) {
    return new ChunkedSampler(seed, blockRows, windowBlocks);
  }

  /**
   * {@return a sampler of rows drawn with replacement, in proportion to weights}
   *
   * @param seed seed of the order; any number
   * @param draws samples per epoch, at least 0
   * @param weights one for each row, in [0, infinity)
   */
  public static Sampler weighted(long seed, long draws, double... weights) {
    Objects.requireNonNull(weights, "weights is null");
    return WeightedSampler.replacing(seed, draws, weights.clone());
  }

  /**
   * {@return a sampler of rows drawn in proportion to weights, each at most once in an epoch}
   *
   * @param seed seed of the order; any number
   * @param draws samples per epoch: from 0 to the number of rows with a weight above 0
   * @param weights one for each row, in [0, infinity)
   */
  public static Sampler weightedWithoutReplacement(long seed, int draws, double... weights) {
    Objects.requireNonNull(weights, "weights is null");
    return WeightedSampler.withoutReplacement(seed, draws, weights.clone());
  }

  /**
   * {@return a sampler of rows of all classes equally often; without replacement by default}
   *
   * @param seed seed of the order; any number
   * @param labels class of each row, from 0
   */
  public static ClassBalancedSampler classBalanced(long seed, int... labels) {
    Objects.requireNonNull(labels, "labels is null");
    return ClassBalancedSampler.of(seed, labels.clone());
  }

  /**
   * {@return a sampler of batches of similar cost, for ragged records}
   *
   * @param seed seed of the order; any number
   * @param maxCost largest total cost of the rows of a batch
   * @param costs one for each row, in [0, maxCost]: bytes, tokens, edges
   */
  public static CostAwareSampler costAware(long seed, long maxCost, long... costs) {
    Objects.requireNonNull(costs, "costs is null");
    return CostAwareSampler.of(seed, maxCost, costs.clone());
  }

  /**
   * {@return a sampler of windows over consecutive rows: {@code window} rows that are {@code
   * dilation} apart, with the next window {@code stride} rows further} A batch counts windows, and
   * stores the rows of each consecutively. N rows have {@code (N - 1 - (window - 1) * dilation) /
   * stride + 1} windows, or none if a window does not fit.
   *
   * @param window rows of a window, at least 1
   * @param stride at least 1
   * @param dilation at least 1; 1 for neighbouring rows
   * @param order order of the windows, as of rows
   */
  public static Sampler windows(int window, int stride, int dilation, Sampler order) {
    Objects.requireNonNull(order, "order is null");
    return new SpacedSampler(new WindowSpace(window, stride, dilation), order);
  }

  /**
   * {@return a sampler of boxes cropped from a fixed field, at a random place for each sample of
   * each epoch}
   *
   * @param seed seed of the order; any number
   * @param order order of the rows
   * @param field field of fixed shape that is cut
   * @param shape shape of the box in the first dimensions of the field; the others are complete
   */
  public static Sampler randomCrops(long seed, Sampler order, Field field, int... shape) {
    Objects.requireNonNull(order, "order is null");
    Objects.requireNonNull(field, "field is null");
    Objects.requireNonNull(shape, "shape is null");
    return new SpacedSampler(new RandomCropSpace(seed, new Box(field, shape.clone())), order);
  }

  /**
   * {@return a sampler of all tiles of a fixed field, edge to edge; the last tile of each dimension
   * is moved back so that it ends with the field} Each row has one sample per tile.
   *
   * @param order order of the tiles, as of rows
   * @param field field of fixed shape that is cut
   * @param shape shape of a tile in the first dimensions of the field; the others are complete
   */
  public static Sampler tiles(Sampler order, Field field, int... shape) {
    Objects.requireNonNull(order, "order is null");
    Objects.requireNonNull(field, "field is null");
    Objects.requireNonNull(shape, "shape is null");
    int[] edges = shape.clone();
    return overlappingTiles(order, field, edges, edges);
  }

  /**
   * {@return a sampler as {@link #tiles}, with the next tile {@code steps} further in each of the
   * first dimensions}
   *
   * @param order order of the samples
   * @param field field of fixed shape that is cut
   * @param shape size of a crop or tile in each dimension
   * @param steps at least 1, one for each element of {@code shape}; if a step is longer than a
   *     tile, the gap between tiles is not read
   */
  public static Sampler overlappingTiles(Sampler order, Field field, int[] shape, int... steps) {
    Objects.requireNonNull(order, "order is null");
    Objects.requireNonNull(field, "field is null");
    Objects.requireNonNull(shape, "shape is null");
    Objects.requireNonNull(steps, "steps is null");
    if (shape.length != steps.length) {
      throw new IllegalArgumentException(
          "tiles %s with steps %s: give as many steps as dimensions"
              .formatted(Arrays.toString(shape), Arrays.toString(steps)));
    }
    Box box = new Box(field, shape.clone());
    int[] all = box.shape();
    System.arraycopy(steps, 0, all, 0, steps.length);
    return new SpacedSampler(new TileSpace(box, all), order);
  }
}
