// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples.vae;

import java.io.Serializable;

/**
 * The options of a training.
 *
 * @param epochs number of passes over the training images
 * @param globalBatch images of a step over all ranks
 * @param seed seed of the first parameters, of the order of the images and of the noise
 * @param checkpoints folder that all executors reach; empty for no checkpoints
 * @param checkpointEvery steps between two checkpoints; another is saved after each epoch
 */
record VaeOptions(int epochs, int globalBatch, long seed, String checkpoints, int checkpointEvery)
    implements Serializable {}
