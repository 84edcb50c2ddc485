// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples.vae;

import java.io.Serializable;
import java.util.List;

/**
 * The result of one rank.
 *
 * @param epochs results of all epochs, equal on all ranks
 * @param samplesPerSecond training images of all ranks per second of training, in this attempt; 0
 *     if the checkpoint has all epochs
 * @param utilisation mean share of the time that ranks computed, in [0, 1]
 * @param attempt number of the attempt that ended the training, from 1
 * @param resumedAt position of the checkpoint that the attempt began with; empty if none
 * @param parameters CRC-32 of the final parameters, by rank
 * @param pictures images that the network has made; none on ranks other than 0
 */
record VaeResult(
    int rank,
    List<TrainedEpoch> epochs,
    double samplesPerSecond,
    double utilisation,
    int attempt,
    String resumedAt,
    List<String> parameters,
    Pictures pictures)
    implements Serializable {
  /** Returns whether this attempt took a step; false if the checkpoint has all epochs. */
  boolean hasTrained() {
    return samplesPerSecond > 0;
  }
}
