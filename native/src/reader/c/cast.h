// SPDX-License-Identifier: Apache-2.0
/* Casts of numbers: from int8, uint8, int16, int32, bfloat16, float32 or float64 to float32 or bfloat16. */
#ifndef DDS_CAST_H
#define DDS_CAST_H

#include "ddstore_reader.h"

/* Bytes of a value of a type. */
size_t dds_dtype_bytes(enum dds_dtype dtype);

/* Returns whether a cast exists. */
int dds_can_cast(enum dds_dtype from, enum dds_dtype to);

/* Casts count little-endian values, each multiplied by a scale; the memory may have any alignment. */
void dds_cast(enum dds_dtype from, enum dds_dtype to, float scale, const void *values, void *results, size_t count);

#endif
