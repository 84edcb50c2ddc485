// SPDX-License-Identifier: Apache-2.0
#include "places.h"

#include <string.h>

/* Number of counters used in turn, so that no increment waits for the one before. */
#define TURNS 4

static size_t search(const struct dds_places *places, int64_t row) {
  size_t low = 0;
  size_t high = places->extent_count - 1;
  while (low < high) {
    size_t middle = (low + high + 1) / 2;
    if (places->extents[middle].first <= row) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

size_t dds_locate(const struct dds_places *places, const int64_t *rows, size_t count, size_t counted,
                  int32_t *rows_of_extents, int64_t *addresses) {
  int32_t counts[TURNS][DDS_MOST_EXTENTS];
  memset(counts, 0, sizeof counts);
  /* Starts where the row would be if all extents had one size; balanced ones nearly have. */
  uint64_t extents_per_row = (uint64_t)(((__uint128_t)places->extent_count << 64) / (uint64_t)places->rows);
  size_t found = 0;
  for (; found < count; found++) {
    int64_t row = rows[found];
    if ((uint64_t)row >= (uint64_t)places->rows) {
      break;
    }
    size_t number = (size_t)((__uint128_t)(uint64_t)row * extents_per_row >> 64);
    const struct dds_extent *extent = &places->extents[number];
    int64_t in_extent = row - extent->first;
    if ((uint64_t)in_extent >= (uint64_t)extent->rows) {
      number = search(places, row);
      extent = &places->extents[number];
      in_extent = row - extent->first;
    }
    int64_t chunk = in_extent >> extent->shift;
    addresses[found] =
        places->chunks[extent->chunk + chunk] + (in_extent - (chunk << extent->shift)) * places->record_bytes;
    counts[found % TURNS][number] += found < counted;
  }
  for (size_t e = 0; e < places->extent_count; e++) {
    for (size_t turn = 0; turn < TURNS; turn++) {
      rows_of_extents[e] += counts[turn][e];
    }
  }
  return found;
}
