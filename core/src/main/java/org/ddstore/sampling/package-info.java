// SPDX-License-Identifier: Apache-2.0
/**
 * The selection of the rows that a rank reads in an epoch, their order and their batches: samplers,
 * their distribution over ranks, the state to resume from, and the receipt of what was read. Pure
 * arithmetic without access to rows.
 */
package org.ddstore.sampling;
