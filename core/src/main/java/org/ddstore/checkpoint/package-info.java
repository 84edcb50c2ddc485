// SPDX-License-Identifier: Apache-2.0
/**
 * Checkpoints of training: named streams of bytes and the position of every rank, saved by all
 * ranks together and published atomically; the entry point is {@link
 * org.ddstore.checkpoint.Checkpoints}.
 */
package org.ddstore.checkpoint;
