// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples.vae;

/**
 * Sums over images, of one batch or several.
 *
 * @param loss sum of the losses of the images
 * @param images number of images
 * @param mismatches images that differ from the source
 */
record BatchSums(double loss, double images, double mismatches) {
  static final BatchSums NONE = new BatchSums(0, 0, 0);

  BatchSums plus(BatchSums other) {
    return new BatchSums(loss + other.loss, images + other.images, mismatches + other.mismatches);
  }

  double meanLoss() {
    return loss / images;
  }
}
