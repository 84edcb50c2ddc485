// SPDX-License-Identifier: Apache-2.0
#include "places.h"

#include <string.h>

#include "check.h"

#define ROWS 2000
#define RECORD 24

/* Extents of irregular sizes, one empty, in chunks of 16 rows at irregular addresses. */
int main(void) {
  const int64_t sizes[] = {700, 0, 3, 1200, 97};
  const size_t extent_count = sizeof sizes / sizeof sizes[0];
  struct dds_extent extents[sizeof sizes / sizeof sizes[0]];
  int64_t chunks[256];
  int64_t expected[ROWS];
  int64_t rows[ROWS];
  int64_t addresses[ROWS];
  int32_t counts[sizeof sizes / sizeof sizes[0]] = {0};
  int64_t row = 0;
  int64_t chunk = 0;
  for (size_t e = 0; e < extent_count; e++) {
    extents[e] = (struct dds_extent){.first = row, .rows = sizes[e], .shift = 4, .chunk = chunk};
    for (int64_t i = 0; i < sizes[e]; i++, row++) {
      if (i % 16 == 0) {
        chunks[chunk] = 1000003 * (chunk + 7) % 99991 * 4096;
        chunk++;
      }
      expected[row] = chunks[chunk - 1] + i % 16 * RECORD;
    }
  }
  CHECK(row == ROWS);
  struct dds_places places = {
      .extents = extents, .extent_count = extent_count, .chunks = chunks, .record_bytes = RECORD, .rows = ROWS};
  for (int64_t i = 0; i < ROWS; i++) {
    rows[i] = (i * 787 + 11) % ROWS;
  }
  CHECK(dds_locate(&places, rows, ROWS, ROWS, counts, addresses) == ROWS);
  for (size_t i = 0; i < ROWS; i++) {
    CHECK(addresses[i] == expected[rows[i]]);
  }
  for (size_t e = 0; e < extent_count; e++) {
    CHECK(counts[e] == sizes[e]);
  }

  memset(counts, 0, sizeof counts);
  CHECK(dds_locate(&places, rows, 10, 0, counts, addresses) == 10);
  for (size_t e = 0; e < extent_count; e++) {
    CHECK(counts[e] == 0);
  }

  /* A row outside the extents ends the search and gets no address. */
  const int64_t outside[] = {-1, ROWS, ROWS + 100, INT64_MIN, INT64_MAX};
  for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
    int64_t some[] = {3, outside[i], 4};
    int64_t found[] = {0, 42, 42};
    memset(counts, 0, sizeof counts);
    CHECK(dds_locate(&places, some, 3, 3, counts, found) == 1);
    CHECK(found[0] == expected[3] && found[1] == 42 && found[2] == 42);
    CHECK(counts[0] == 1);
  }

  memset(counts, 0, sizeof counts);
  /* With a single row the scale does not fit 64 bits. */
  struct dds_extent one[] = {{.first = 0, .rows = 0, .shift = 4, .chunk = 0},
                             {.first = 0, .rows = 1, .shift = 4, .chunk = 0}};
  struct dds_places single = {.extents = one, .extent_count = 2, .chunks = chunks, .record_bytes = RECORD, .rows = 1};
  int64_t zero = 0;
  CHECK(dds_locate(&single, &zero, 1, 1, counts, addresses) == 1);
  CHECK(addresses[0] == chunks[0]);
  CHECK(counts[1] == 1);
  return 0;
}
