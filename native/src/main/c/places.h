// SPDX-License-Identifier: Apache-2.0
/* Addresses of global rows of fixed records in the memory of this process. */
#ifndef DDS_PLACES_H
#define DDS_PLACES_H

#include <stddef.h>
#include <stdint.h>

#define DDS_MOST_EXTENTS 64

/* A run of global rows in one segment, laid out as in Placement.java. */
struct dds_extent {
  int64_t first; /* first row */
  int64_t rows;
  int64_t shift; /* log2 of the rows of a chunk */
  int64_t chunk; /* index of the first chunk among those of all extents */
};
_Static_assert(sizeof(struct dds_extent) == 4 * sizeof(int64_t), "Placement.EXTENT_LONGS");

/* Extents in row order, at most DDS_MOST_EXTENTS, without gaps from row 0 to the last row. */
struct dds_places {
  const struct dds_extent *extents;
  size_t extent_count;
  const int64_t *chunks; /* addresses of the chunks */
  int64_t record_bytes;
  int64_t rows; /* rows of all extents */
};

/*
 * Finds the addresses of rows. Returns the number found: count, or the position in the input of the
 * first row outside [0, places->rows); its address and all later ones are not set.
 *
 * counted          number of rows to count, from the first one
 * rows_of_extents  count of each extent, increased by the number of counted rows in it
 */
size_t dds_locate(const struct dds_places *places, const int64_t *rows, size_t count, size_t counted,
                  int32_t *rows_of_extents, int64_t *addresses);

#endif
