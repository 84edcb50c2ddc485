// SPDX-License-Identifier: Apache-2.0
/* The orders that need no value of a row: sequential, shuffled and chunked. */
#include "order.h"

#include <stdlib.h>

#include "grouped.h"
#include "handle.h"
#include "keyed_hash.h"
#include "permutation.h"

/* Positions that are replaced together. */
#define TOGETHER 512

int dds_turn_drift(const struct dds_turn *turn, int64_t *drift, struct dds_error *error) {
  *drift = 0;
  if (turn->dropped == 0) {
    return DDS_OK;
  }
  int64_t moved;
  if (__builtin_mul_overflow(turn->number, turn->dropped, &moved)) {
    return dds_fail(error, DDS_INVALID_ARGUMENT, "epoch %s with %s dropped samples: their product exceeds 64 bits",
                    GROUPED(turn->number), GROUPED(turn->dropped));
  }
  *drift = moved % turn->samples;
  return DDS_OK;
}

int dds_no_memory_for_order(int64_t samples, struct dds_error *error) {
  return dds_fail(error, DDS_OUT_OF_MEMORY, "no memory for an order of %s samples", GROUPED(samples));
}

void dds_order_free(struct dds_order *order) {
  if (order != NULL) {
    order->free(order);
  }
}

void dds_order_replace(struct dds_order *order, int64_t *places, size_t count) {
  order->replace(order, places, count);
}

void dds_order_fill(struct dds_order *order, int64_t first, int64_t *samples, size_t count) {
  for (size_t i = 0; i < count; i++) {
    samples[i] = first + (int64_t)i;
  }
  dds_order_replace(order, samples, count);
}

static int check_size(int64_t samples, struct dds_error *error) {
  if (samples > DDS_PERMUTATION_MOST) {
    return dds_fail(error, DDS_INVALID_ARGUMENT, "size %s outside [0, %s]", GROUPED(samples),
                    GROUPED(DDS_PERMUTATION_MOST));
  }
  return DDS_OK;
}

/* A sequence whose begin moves by the length of the dropped end in each epoch. */
struct rotation {
  struct dds_order order;
  int64_t start;
};

static void replace_rotated(struct dds_order *order, int64_t *places, size_t count) {
  const struct rotation *rotation = (const struct rotation *)order;
  int64_t turning = order->size - rotation->start;
  for (size_t i = 0; i < count; i++) {
    places[i] += places[i] >= turning ? -turning : rotation->start;
  }
}

static void free_rotation(struct dds_order *order) {
  free(order);
}

int dds_order_sequential(const struct dds_turn *turn, struct dds_order **order, struct dds_error *error) {
  int64_t start;
  int code = dds_turn_drift(turn, &start, error);
  if (code != DDS_OK) {
    return code;
  }
  struct rotation *rotation = malloc(sizeof *rotation);
  if (rotation == NULL) {
    return dds_no_memory_for_order(turn->samples, error);
  }
  rotation->order = (struct dds_order){.size = turn->samples, .replace = replace_rotated, .free = free_rotation};
  rotation->start = start;
  *order = &rotation->order;
  return DDS_OK;
}

/*
 * Epochs form pairs. The odd epoch begins with the samples of the second half of the even epoch before it, and both
 * halves are shuffled again: one epoch of a pair reads what the other drops.
 */
struct shuffle {
  struct dds_order order;
  struct dds_permutation even;
  struct dds_permutation first;
  struct dds_permutation second;
};

static void free_shuffle(struct dds_order *order) {
  struct shuffle *shuffle = (struct shuffle *)order;
  dds_permutation_free(&shuffle->even);
  dds_permutation_free(&shuffle->first);
  dds_permutation_free(&shuffle->second);
  free(shuffle);
}

static void replace_even(struct dds_order *order, int64_t *places, size_t count) {
  dds_permutation_replace(&((struct shuffle *)order)->even, places, count);
}

/* Replaces positions of one half by positions of the even epoch. */
static void replace_in_half(struct shuffle *shuffle, int64_t *places, size_t count) {
  int64_t half = shuffle->first.size;
  if (places[0] < half) {
    dds_permutation_replace(&shuffle->first, places, count);
    for (size_t i = 0; i < count; i++) {
      places[i] += shuffle->second.size;
    }
    return;
  }
  for (size_t i = 0; i < count; i++) {
    places[i] -= half;
  }
  dds_permutation_replace(&shuffle->second, places, count);
}

static void replace_odd(struct dds_order *order, int64_t *places, size_t count) {
  struct shuffle *shuffle = (struct shuffle *)order;
  int64_t half = shuffle->first.size;
  size_t first = 0;
  for (size_t i = 1; i <= count; i++) {
    if (i == count || (places[i] < half) != (places[first] < half)) {
      replace_in_half(shuffle, places + first, i - first);
      first = i;
    }
  }
  dds_permutation_replace(&shuffle->even, places, count);
}

static uint64_t shuffle_key(uint64_t seed, const struct dds_turn *turn, uint64_t purpose) {
  uint64_t key = dds_key_add(dds_key(seed), (uint64_t)turn->number >> 1);
  return dds_key_add(dds_key_add(key, (uint64_t)turn->part), purpose);
}

int dds_order_shuffled(uint64_t seed, const struct dds_turn *turn, struct dds_order **order, struct dds_error *error) {
  int code = check_size(turn->samples, error);
  if (code != DDS_OK) {
    return code;
  }
  struct shuffle *shuffle = calloc(1, sizeof *shuffle);
  if (shuffle == NULL) {
    return dds_no_memory_for_order(turn->samples, error);
  }
  int is_odd = turn->number % 2 == 1;
  int64_t second = turn->samples / 2;
  int64_t first = turn->samples - second;
  if (!dds_permutation_reserve(&shuffle->even, turn->samples) ||
      (is_odd &&
       (!dds_permutation_reserve(&shuffle->first, first) || !dds_permutation_reserve(&shuffle->second, second)))) {
    free_shuffle(&shuffle->order);
    return dds_no_memory_for_order(turn->samples, error);
  }
  dds_permutation_set(&shuffle->even, turn->samples, shuffle_key(seed, turn, 0));
  if (is_odd) {
    dds_permutation_set(&shuffle->first, first, shuffle_key(seed, turn, 1));
    dds_permutation_set(&shuffle->second, second, shuffle_key(seed, turn, 2));
  }
  shuffle->order =
      (struct dds_order){.size = turn->samples, .replace = is_odd ? replace_odd : replace_even, .free = free_shuffle};
  *order = &shuffle->order;
  return DDS_OK;
}

/*
 * Blocks of neighbouring rows in random order; several form a window, within which the rows are shuffled. An
 * incomplete block comes last, and so does an incomplete window.
 *
 * read           positions that are not dropped
 * window         permutation of the rows of the window window_number
 */
struct chunks {
  struct dds_order order;
  int64_t read;
  int64_t start;
  int64_t block_rows;
  int64_t window_rows;
  uint64_t window_key;
  struct dds_permutation blocks;
  struct dds_permutation window;
  int64_t window_number;
};

static void free_chunks(struct dds_order *order) {
  struct chunks *chunks = (struct chunks *)order;
  dds_permutation_free(&chunks->blocks);
  dds_permutation_free(&chunks->window);
  free(chunks);
}

/* Replaces positions in one window by positions in the sequence of shuffled blocks. */
static void replace_in_window(struct chunks *chunks, int64_t number, int64_t *places, size_t count) {
  int64_t first = number * chunks->window_rows;
  if (number != chunks->window_number) {
    int64_t left = chunks->read - first;
    dds_permutation_set(&chunks->window, left < chunks->window_rows ? left : chunks->window_rows,
                        dds_key_add(dds_key(chunks->window_key), (uint64_t)number));
    chunks->window_number = number;
  }
  for (size_t i = 0; i < count; i++) {
    places[i] -= first;
  }
  dds_permutation_replace(&chunks->window, places, count);
  for (size_t i = 0; i < count; i++) {
    places[i] += first;
  }
}

/* Replaces positions by rows: those of complete blocks by the rows of the block at their place. */
static void replace_blocks(struct chunks *chunks, int64_t *places, size_t count) {
  int64_t blocks[TOGETHER];
  int64_t in_block[TOGETHER];
  size_t slots[TOGETHER];
  int64_t complete = chunks->blocks.size;
  size_t used = 0;
  for (size_t i = 0; i < count; i++) {
    int64_t block = places[i] / chunks->block_rows;
    if (block < complete) {
      blocks[used] = block;
      in_block[used] = places[i] - block * chunks->block_rows;
      slots[used++] = i;
    }
  }
  dds_permutation_replace(&chunks->blocks, blocks, used);
  for (size_t i = 0; i < used; i++) {
    places[slots[i]] = blocks[i] * chunks->block_rows + in_block[i];
  }
}

static void replace_chunk(struct chunks *chunks, int64_t *places, size_t count) {
  size_t read = 0; /* number of places at the begin that are not dropped; places ascend */
  while (read < count && places[read] < chunks->read) {
    int64_t number = places[read] / chunks->window_rows;
    int64_t end = number * chunks->window_rows;
    end = chunks->read - end < chunks->window_rows ? chunks->read : end + chunks->window_rows;
    size_t first = read;
    while (read < count && places[read] < end) {
      read++;
    }
    replace_in_window(chunks, number, places + first, read - first);
  }
  replace_blocks(chunks, places, read);
  int64_t turning = chunks->order.size - chunks->start;
  for (size_t i = 0; i < count; i++) {
    places[i] += places[i] >= turning ? -turning : chunks->start;
  }
}

static void replace_chunked(struct dds_order *order, int64_t *places, size_t count) {
  for (size_t first = 0; first < count; first += TOGETHER) {
    replace_chunk((struct chunks *)order, places + first, count - first < TOGETHER ? count - first : TOGETHER);
  }
}

int dds_order_chunked(uint64_t seed, int64_t block_rows, int64_t window_rows, const struct dds_turn *turn,
                      struct dds_order **order, struct dds_error *error) {
  int64_t start;
  int code = check_size(turn->samples, error);
  if (code == DDS_OK) {
    code = dds_turn_drift(turn, &start, error);
  }
  if (code != DDS_OK) {
    return code;
  }
  struct chunks *chunks = calloc(1, sizeof *chunks);
  if (chunks == NULL) {
    return dds_no_memory_for_order(turn->samples, error);
  }
  chunks->order = (struct dds_order){.size = turn->samples, .replace = replace_chunked, .free = free_chunks};
  chunks->read = turn->samples - turn->dropped;
  chunks->start = start;
  chunks->block_rows = block_rows;
  chunks->window_rows = window_rows;
  chunks->window_number = -1;
  int64_t blocks = chunks->read / block_rows;
  if (!dds_permutation_reserve(&chunks->blocks, blocks) ||
      !dds_permutation_reserve(&chunks->window, chunks->read < window_rows ? chunks->read : window_rows)) {
    free_chunks(&chunks->order);
    return dds_no_memory_for_order(turn->samples, error);
  }
  uint64_t key = dds_key_add(dds_key_add(dds_key(seed), (uint64_t)turn->number), (uint64_t)turn->part);
  chunks->window_key = dds_key_add(dds_key(key), 1);
  dds_permutation_set(&chunks->blocks, blocks, dds_key_add(dds_key(key), 0));
  *order = &chunks->order;
  return DDS_OK;
}
