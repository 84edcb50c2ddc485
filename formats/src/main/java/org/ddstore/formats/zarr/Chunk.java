// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

/**
 * A decoded chunk.
 *
 * @param elements a buffer of numbers from position 0 in its byte order, or a {@code String[]}
 * @param bytes size in memory in bytes; an upper bound for texts
 * @param strides distance of neighbours of each axis in elements; all 0 if there is one element,
 *     which all places of the chunk have
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record Chunk(Object elements, long bytes, int... strides) {}
