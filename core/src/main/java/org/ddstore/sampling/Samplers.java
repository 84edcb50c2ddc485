package org.ddstore.sampling;

import java.util.Arrays;
import java.util.Objects;
import org.ddstore.types.Field;

/**
 * Ready samplers. Each is deterministic in its arguments and the epoch: every rank gets the same
 * order. One's own implement {@link Sampler}. Arrays are copied before they are checked.
 */
public final class Samplers {
  private Samplers() {}

  /** Rows by index. */
  public static Sampler sequential() {
    return new SequentialSampler();
  }

  /**
   * All rows in random order, by a keyed permutation: no list of them is made, an epoch can begin
   * anywhere, and the order is the same for every number of ranks. Between two consecutive epochs
   * 2k and 2k + 1, each row is read at least once, however many are dropped.
   */
  public static Sampler shuffled(long seed) {
    return new ShuffledSampler(seed);
  }

  /**
   * Blocks of neighbouring rows in random order, and rows shuffled within windows of several
   * blocks: less random than {@link #shuffled}, and friendlier to storage that reads ahead.
   *
   * @param blockRows rows of a block, at least 1
   * @param windowBlocks blocks of a window, at least 1; a window must be a multiple of the batch
   */
  public static Sampler chunked(long seed, int blockRows, int windowBlocks) {
    return new ChunkedSampler(seed, blockRows, windowBlocks);
  }

  /**
   * Rows drawn with replacement, in proportion to weights.
   *
   * @param draws samples of an epoch, at least 0
   * @param weights one for each row, of [0, infinity)
   */
  public static Sampler weighted(long seed, long draws, double... weights) {
    Objects.requireNonNull(weights, "weights is null");
    return new WeightedSampler(seed, draws, weights.clone());
  }

  /**
   * Rows drawn in proportion to weights, each at most once in an epoch.
   *
   * @param draws samples of an epoch: of 0 to as many as rows of a weight above 0
   * @param weights one for each row, of [0, infinity)
   */
  public static Sampler weightedWithoutReplacement(long seed, int draws, double... weights) {
    Objects.requireNonNull(weights, "weights is null");
    return new WeightedSubsetSampler(seed, draws, weights.clone());
  }

  /**
   * Rows of all classes equally often; without replacement unless changed.
   *
   * @param labels the class of each row, from 0
   */
  public static ClassBalancedSampler classBalanced(long seed, int... labels) {
    Objects.requireNonNull(labels, "labels is null");
    return ClassBalancedSampler.of(seed, labels.clone());
  }

  /**
   * Batches of like cost, for ragged records.
   *
   * @param maxCost the most that the rows of a batch may cost together
   * @param costs one for each row, of [0, maxCost]: bytes, tokens, edges
   */
  public static CostAwareSampler costAware(long seed, long maxCost, long... costs) {
    Objects.requireNonNull(costs, "costs is null");
    return CostAwareSampler.of(seed, maxCost, costs.clone());
  }

  /**
   * Windows over consecutive rows: {@code window} rows that are {@code dilation} apart, the next
   * window {@code stride} rows further. A batch counts windows, and has the rows of each one after
   * the other. Of N rows there are {@code (N - 1 - (window - 1) * dilation) / stride + 1} windows,
   * none if that many rows are not there.
   *
   * @param window rows of a window, at least 1
   * @param stride at least 1
   * @param dilation at least 1; 1 for neighbouring rows
   * @param order of the windows, as of rows
   */
  public static Sampler windows(int window, int stride, int dilation, Sampler order) {
    Objects.requireNonNull(order, "order is null");
    return new SpacedSampler(new WindowSpace(window, stride, dilation), order);
  }

  /**
   * Boxes cut out of a fixed field, at a place drawn for each sample of each epoch.
   *
   * @param order of the rows
   * @param shape of the box in the first dimensions of the field; of the others it has all
   */
  public static Sampler randomCrops(long seed, Sampler order, Field field, int... shape) {
    Objects.requireNonNull(order, "order is null");
    Objects.requireNonNull(field, "field is null");
    Objects.requireNonNull(shape, "shape is null");
    return new SpacedSampler(new RandomCropSpace(seed, new Box(field, shape.clone())), order);
  }

  /**
   * All tiles of a fixed field, edge to edge; the last of each dimension is moved back so that it
   * ends with the field. A row has as many samples as tiles.
   *
   * @param order of the tiles, as of rows
   * @param shape of a tile in the first dimensions of the field; of the others it has all
   */
  public static Sampler tiles(Sampler order, Field field, int... shape) {
    Objects.requireNonNull(order, "order is null");
    Objects.requireNonNull(field, "field is null");
    Objects.requireNonNull(shape, "shape is null");
    int[] edges = shape.clone();
    return overlappingTiles(order, field, edges, edges);
  }

  /**
   * As {@link #tiles}, with the next tile {@code steps} further in each of the first dimensions.
   *
   * @param steps at least 1, as many as {@code shape}; what lies between tiles is not read if they
   *     are longer than a tile
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
