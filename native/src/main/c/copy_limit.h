// SPDX-License-Identifier: Apache-2.0
/* What a machine can do at best: the yardsticks of benchmarks. */
#ifndef DDS_COPY_LIMIT_H
#define DDS_COPY_LIMIT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Copies rows by a plain loop of memcpy: batch b gets rows [b * batch_rows, (b + 1) * batch_rows), back to
 * back at targets[b]. Returns the nanoseconds that it took.
 */
int64_t dds_copy_rows(const int64_t *rows, const int64_t *targets, size_t batches, size_t batch_rows, size_t row_bytes);

/* Copies one stretch of memory to another, past the caches where it can. Returns the nanoseconds. */
int64_t dds_copy_stretch(const uint8_t *from, uint8_t *to, size_t bytes);

#endif
