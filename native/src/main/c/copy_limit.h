// SPDX-License-Identifier: Apache-2.0
/* Upper limits of a machine's copy speed, as baselines of benchmarks. */
#ifndef DDS_COPY_LIMIT_H
#define DDS_COPY_LIMIT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Copies rows in a plain loop of memcpy: batch b receives rows [b * batch_rows,
 * (b + 1) * batch_rows), back to back at targets[b]. Returns the elapsed nanoseconds.
 */
int64_t dds_copy_rows(const int64_t *rows, const int64_t *targets, size_t batches, size_t batch_rows, size_t row_bytes);

/* Copies a range of memory, past the caches if supported. Returns the elapsed nanoseconds. */
int64_t dds_copy_stretch(const uint8_t *from, uint8_t *to, size_t bytes);

#endif
