// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import java.util.Arrays;

/** The rows of each class. Takes 8 bytes per row. Immutable. */
final class ClassRows {
  private final int[] labels;
  private final int[] starts;
  private final int[] rows;
  private final String fingerprint;

  /**
   * @param labels class of each row, from 0; must not be changed afterwards
   */
  static ClassRows of(int... labels) {
    int classes = 0;
    for (int row = 0; row < labels.length; row++) {
      if (labels[row] < 0 || labels[row] == Integer.MAX_VALUE) {
        throw new IllegalArgumentException(
            "label %d of row %,d outside [0, %d]"
                .formatted(labels[row], row, Integer.MAX_VALUE - 1));
      }
      classes = Math.max(classes, labels[row] + 1);
    }
    return new ClassRows(classes, labels);
  }

  private ClassRows(int classes, int... labels) {
    this.labels = labels;
    starts = new int[classes + 1];
    for (int label : labels) {
      starts[label + 1]++;
    }
    Arrays.parallelPrefix(starts, Integer::sum);
    rows = new int[labels.length];
    int[] next = starts.clone();
    for (int row = 0; row < labels.length; row++) {
      rows[next[labels[row]]++] = row;
    }
    fingerprint = Fingerprint.of(labels);
  }

  /** Returns the classes of some rows, numbered anew; a class can then have no rows. */
  ClassRows within(RowSubset subset) {
    return new ClassRows(classes(), subset.select(labels));
  }

  int classes() {
    return starts.length - 1;
  }

  int size(int label) {
    return starts[label + 1] - starts[label];
  }

  /** Returns row {@code number} of a class, in ascending order of rows. */
  int row(int label, long number) {
    return rows[starts[label] + (int) number];
  }

  int rows() {
    return rows.length;
  }

  String fingerprint() {
    return fingerprint;
  }

  /** Returns weight 1 for every class that has rows. */
  double[] equalWeights() {
    double[] weights = new double[classes()];
    Arrays.setAll(weights, label -> size(label) > 0 ? 1 : 0);
    return weights;
  }

  /** Rejects weights that do not fit the classes. */
  double[] checkWeights(double... weights) {
    if (weights.length != classes()) {
      throw new IllegalArgumentException(
          "%d weights for the %d classes [0, %d)".formatted(weights.length, classes(), classes()));
    }
    double[] checked = Checks.weights(weights);
    for (int label = 0; label < checked.length; label++) {
      if (checked[label] > 0 && size(label) == 0) {
        throw new IllegalArgumentException(
            "class %d has the weight %s and no rows: give it 0".formatted(label, checked[label]));
      }
    }
    return checked;
  }
}
