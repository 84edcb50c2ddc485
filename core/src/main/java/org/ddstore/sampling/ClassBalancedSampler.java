// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import java.util.Objects;

/**
 * A sampler of rows of all classes in equal numbers, or in proportion to class weights.
 *
 * <p>Without replacement (the default) no row is repeated in an epoch: the class that is scarcest
 * for its weight contributes all its rows, as far as they fill blocks, and determines the length;
 * the other classes contribute their rows in turn over the epochs. A class whose share is less than
 * a block is rejected when an epoch begins. With replacement, classes and rows are drawn
 * independently each time, and the caller sets the length. Immutable; the methods return changed
 * copies.
 */
public final class ClassBalancedSampler implements Sampler {
  private final long seed;
  private final ClassRows rows;
  private final double[] weights;
  private final double[] givenWeights; // null for equal weights
  private final int blockRows;
  private final long draws;

  private ClassBalancedSampler(
      long seed, ClassRows rows, int blockRows, long draws, double... givenWeights) {
    this.seed = seed;
    this.rows = rows;
    this.blockRows = Checks.atLeastOne(blockRows, "blockRows");
    this.draws = draws;
    this.givenWeights = givenWeights;
    this.weights = rows.checkWeights(givenWeights == null ? rows.equalWeights() : givenWeights);
  }

  static ClassBalancedSampler of(long seed, int... labels) {
    return new ClassBalancedSampler(seed, ClassRows.of(labels), 1, -1, (double[]) null);
  }

  /**
   * Sets a share for each class in place of equal ones, in [0, infinity), at least one above 0. A
   * share of 0 excludes a class, and is required for a class without rows.
   *
   * @param weights share of each class; not negative
   * @return a copy with this option
   */
  public ClassBalancedSampler weights(double... weights) {
    Objects.requireNonNull(weights, "weights is null");
    return new ClassBalancedSampler(seed, rows, blockRows, draws, weights.clone());
  }

  /**
   * Sets the number of consecutive samples of one class, at least 1; 1 by default.
   *
   * @param samples number of samples
   * @return a copy with this option
   */
  public ClassBalancedSampler blockRows(int samples) {
    return new ClassBalancedSampler(seed, rows, samples, draws, givenWeights);
  }

  /**
   * Draws with replacement, {@code samples} samples per epoch, at least 0.
   *
   * @param samples number of samples
   * @return a copy with this option
   */
  public ClassBalancedSampler withReplacement(long samples) {
    if (samples < 0) {
      throw new IllegalArgumentException("%,d samples must be at least 0".formatted(samples));
    }
    return new ClassBalancedSampler(seed, rows, blockRows, samples, givenWeights);
  }

  @Override
  public String describe() {
    return "classes(%d, %s%sof %s)"
        .formatted(
            seed,
            draws < 0 ? "" : draws + " ",
            blockRows == 1 ? "" : "by " + blockRows + " ",
            Fingerprint.both(rows.fingerprint(), Fingerprint.of(weights)));
  }

  @Override
  public long positions(long samples) {
    return draws < 0 ? ClassQuotas.of(rows, blockRows, weights).samples() : draws;
  }

  @Override
  public boolean neverWaits() {
    return true;
  }

  /**
   * Returns a sampler of some rows. Equal shares apply to the classes that have rows among them; a
   * class that {@link #weights} gives a share must have some.
   *
   * @param samples rows to keep
   */
  @Override
  public Sampler forSamples(RowSubset samples) {
    Objects.requireNonNull(samples, "samples is null");
    return new ClassBalancedSampler(seed, rows.within(samples), blockRows, draws, givenWeights);
  }

  @Override
  public SampleOrder order(Epoch epoch) {
    Objects.requireNonNull(epoch, "epoch is null");
    Checks.samples(epoch.samples(), rows.rows(), "labels");
    if (draws < 0) {
      return ClassQuotas.of(rows, blockRows, weights).order(rows, seed, epoch);
    }
    long key = KeyedHash.key(seed, epoch.number(), epoch.part());
    return new Draws(draws, rows, blockRows, new AliasTable(weights), key);
  }

  private record Draws(long size, ClassRows rows, int blockRows, AliasTable table, long key)
      implements SampleOrder {
    @Override
    public long at(long position) {
      long block = position / blockRows;
      int label = table.draw(KeyedHash.word(~key, 2 * block), KeyedHash.word(~key, 2 * block + 1));
      return rows.row(label, KeyedHash.below(KeyedHash.word(key, position), rows.size(label)));
    }
  }
}
