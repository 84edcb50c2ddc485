// SPDX-License-Identifier: Apache-2.0
#include "gather.h"

#include <string.h>

#include "check.h"
#include "stream_copy.h"

#define RECORDS 700

/* A generator of fixed results, so that a run can be repeated. */
static uint32_t next(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 33);
}

static void *allocate(size_t bytes) {
  void *memory = malloc(bytes == 0 ? 1 : bytes); /* no spare byte, to detect overruns */
  CHECK(memory != NULL);
  return memory;
}

static uint8_t *random_bytes(uint64_t *state, size_t bytes) {
  uint8_t *memory = allocate(bytes);
  for (size_t i = 0; i < bytes; i++) {
    memory[i] = (uint8_t)next(state);
  }
  return memory;
}

static int64_t address(const void *memory) {
  return (int64_t)(intptr_t)memory;
}

/* Copies fields of random records in parts, as Java does, and compares them byte by byte. */
static void scatters(uint64_t *state, size_t field_count, size_t most_bytes, size_t count, size_t part) {
  struct dds_field fields[8];
  uint8_t *targets[8];
  size_t record_bytes = 0;
  for (size_t f = 0; f < field_count; f++) {
    size_t gap = next(state) % 5;
    size_t bytes = 1 + next(state) % most_bytes;
    targets[f] = allocate(bytes * count);
    fields[f] = (struct dds_field){
        .offset = (int64_t)(record_bytes + gap), .bytes = (int64_t)bytes, .target = address(targets[f])};
    record_bytes += gap + bytes;
  }
  size_t held = 50;
  uint8_t *memory = random_bytes(state, held * record_bytes);
  int64_t *records = allocate(count * sizeof *records);
  for (size_t i = 0; i < count; i++) {
    records[i] = address(memory + next(state) % held * record_bytes);
  }
  for (size_t first = 0; first < count; first += part) {
    size_t left = count - first;
    struct dds_records some = {.address = records + first,
                               .count = left < part ? left : part,
                               .known = left < part + DDS_AHEAD ? left : part + DDS_AHEAD,
                               .first = first,
                               .batch = count};
    dds_scatter(&some, fields, field_count);
  }
  for (size_t f = 0; f < field_count; f++) {
    for (size_t i = 0; i < count; i++) {
      CHECK(memcmp(targets[f] + i * (size_t)fields[f].bytes, (const uint8_t *)(intptr_t)records[i] + fields[f].offset,
                   (size_t)fields[f].bytes) == 0);
    }
    free(targets[f]);
  }
  free(records);
  free(memory);
}

/* Copies rows at odd addresses, large enough for stores past the caches. */
static void streams(uint64_t *state) {
  size_t bytes = (1 << 20) + 37;
  size_t count = 24;
  uint8_t *record = random_bytes(state, bytes + 3);
  uint8_t *target = allocate(bytes * count + 5);
  int64_t records[24];
  for (size_t i = 0; i < count; i++) {
    records[i] = address(record + i % 3);
  }
  struct dds_field field = {.offset = 1, .bytes = (int64_t)bytes, .target = address(target + 5)};
  struct dds_records all = {.address = records, .count = count, .known = count, .first = 0, .batch = count};
  dds_scatter(&all, &field, 1);
  for (size_t i = 0; i < count; i++) {
    CHECK(memcmp(target + 5 + i * bytes, record + i % 3 + 1, bytes) == 0);
  }
  free(target);
  free(record);
}

static void streams_any_length(uint64_t *state) {
  uint8_t *from = random_bytes(state, 400);
  for (size_t shift = 0; shift < 64; shift++) {
    for (size_t bytes = 0; bytes < 330; bytes += 1 + bytes / 9) {
      uint8_t *to = allocate(shift + bytes);
      dds_stream_copy(to + shift, from + shift / 2, bytes);
      dds_end_stream();
      CHECK(memcmp(to + shift, from + shift / 2, bytes) == 0);
      free(to);
    }
  }
  free(from);
}

static void packs(uint64_t *state) {
  uint8_t *memory = random_bytes(state, 5000);
  int64_t pieces[100];
  int32_t bytes[100];
  size_t total = 0;
  for (size_t i = 0; i < 100; i++) {
    bytes[i] = (int32_t)(next(state) % 60);
    pieces[i] = address(memory + next(state) % 4900);
    total += (size_t)bytes[i];
  }
  uint8_t *target = allocate(total);
  CHECK(dds_pack(pieces, bytes, 100, target) == target + total);
  const uint8_t *at = target;
  for (size_t i = 0; i < 100; i++) {
    CHECK(memcmp(at, (const uint8_t *)(intptr_t)pieces[i], (size_t)bytes[i]) == 0);
    at += bytes[i];
  }
  free(target);
  free(memory);
}

#define RAGGED 3
#define FIXED 6

/* Records of 6 fixed bytes, three lengths and their data; the second field is skipped. */
static void ragged(uint64_t *state) {
  const size_t row_bytes[RAGGED] = {4, 7, 1};
  uint8_t *records[RECORDS];
  int64_t addresses[RECORDS];
  int32_t sizes[RECORDS];
  int32_t lengths[RECORDS][RAGGED];
  int64_t sums[RAGGED] = {0};
  for (size_t i = 0; i < RECORDS; i++) {
    size_t bytes = FIXED + RAGGED * sizeof(int32_t);
    for (size_t f = 0; f < RAGGED; f++) {
      lengths[i][f] = (int32_t)(next(state) % 9);
      sums[f] += lengths[i][f];
      bytes += (size_t)lengths[i][f] * row_bytes[f];
    }
    records[i] = random_bytes(state, bytes);
    memcpy(records[i] + FIXED, lengths[i], sizeof lengths[i]);
    addresses[i] = address(records[i]);
    sizes[i] = (int32_t)bytes;
  }
  struct dds_ragged fields[RAGGED];
  int64_t *offsets[RAGGED];
  uint8_t *values[RAGGED];
  int64_t totals[RAGGED] = {0};
  for (size_t f = 0; f < RAGGED; f++) {
    offsets[f] = allocate((RECORDS + 1) * sizeof *offsets[f]);
    offsets[f][0] = 0;
    values[f] = allocate((size_t)sums[f] * row_bytes[f]);
    fields[f] = (struct dds_ragged){.row_bytes = (int64_t)row_bytes[f],
                                    .offsets = f == 1 ? 0 : address(offsets[f]),
                                    .values = f == 1 ? 0 : address(values[f])};
  }
  struct dds_records parts[] = {
      {.address = addresses, .count = 300, .known = 300 + DDS_AHEAD, .first = 0, .batch = RECORDS},
      {.address = addresses + 300, .count = RECORDS - 300, .known = RECORDS - 300, .first = 300, .batch = RECORDS}};
  for (size_t p = 0; p < 2; p++) {
    CHECK(dds_measure_ragged(&parts[p], sizes + parts[p].first, FIXED, fields, RAGGED, totals) == -1);
  }
  for (size_t p = 0; p < 2; p++) {
    dds_copy_ragged(&parts[p], FIXED, fields, RAGGED);
  }
  for (size_t f = 0; f < RAGGED; f += 2) {
    CHECK(totals[f] == sums[f]);
    int64_t row = 0;
    for (size_t i = 0; i < RECORDS; i++) {
      CHECK(offsets[f][i] == row);
      size_t skipped = FIXED + RAGGED * sizeof(int32_t);
      for (size_t before = 0; before < f; before++) {
        skipped += (size_t)lengths[i][before] * row_bytes[before];
      }
      CHECK(memcmp(values[f] + (size_t)row * row_bytes[f], records[i] + skipped,
                   (size_t)lengths[i][f] * row_bytes[f]) == 0);
      row += lengths[i][f];
    }
    CHECK(offsets[f][RECORDS] == row);
  }

  /* Invalid lengths are detected: too long, negative, too short, or outside the record. */
  const int32_t wrong[] = {lengths[500][2] + 1, -1, INT32_MAX, lengths[500][2] - 1};
  for (size_t w = 0; w < 4; w++) {
    memcpy(records[500] + FIXED + 2 * sizeof(int32_t), &wrong[w], sizeof wrong[w]);
    CHECK(dds_measure_ragged(&parts[1], sizes + 300, FIXED, fields, RAGGED, totals) == 500);
  }
  memcpy(records[500] + FIXED, lengths[500], sizeof lengths[500]);
  sizes[500] = FIXED + 2;
  CHECK(dds_measure_ragged(&parts[1], sizes + 300, FIXED, fields, RAGGED, totals) == 500);
  sizes[500] = -1;
  CHECK(dds_measure_ragged(&parts[1], sizes + 300, FIXED, fields, RAGGED, totals) == 500);

  for (size_t f = 0; f < RAGGED; f++) {
    free(offsets[f]);
    free(values[f]);
  }
  for (size_t i = 0; i < RECORDS; i++) {
    free(records[i]);
  }
}

int main(void) {
  uint64_t state = 20260101;
  for (size_t fields = 1; fields <= 8; fields++) {
    scatters(&state, fields, 9, RECORDS, 512);
    scatters(&state, fields, 600, 130, 64);
    scatters(&state, fields, 3000, 20, 512);
    scatters(&state, fields, 100, 1, 1);
    scatters(&state, fields, 100, 5, 1);
  }
  streams(&state);
  streams_any_length(&state);
  packs(&state);
  ragged(&state);
  return 0;
}
