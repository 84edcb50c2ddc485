// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

/** The treatment of samples at the end that do not fill a global batch. */
enum Tail {
  /** The samples are left out. */
  DROPPED,
  /** The samples form smaller batches, or none for some ranks. */
  KEPT,
  /** Samples are repeated until the batches are full; the repetitions have weight 0. */
  PADDED
}
