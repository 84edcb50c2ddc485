/**
 * Which rows a rank reads in an epoch, in which order and in which batches: samplers, their
 * distribution over ranks, the state to resume from, and the receipt of what was read. Arithmetic
 * alone: no row is touched here.
 */
package org.ddstore.sampling;
