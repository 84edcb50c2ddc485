// SPDX-License-Identifier: Apache-2.0
#include "permutation.h"

#include <stdlib.h>

#include "keyed_hash.h"

/* A network over fewer numbers is visibly not uniform. */
#define MOST_IN_TABLE 65536

/* Largest number of values of a half whose addends are tabulated: six tables of 192 KiB, which fit a cache. */
#define MOST_VALUES (1 << 14)

/* Numbers that pass a round together, as their multiplications or look-ups overlap. */
#define COMPUTED_TOGETHER 32
#define LOOKED_UP_TOGETHER 512

static uint64_t ceil_sqrt(uint64_t number) {
  uint64_t root = 0;
  for (uint64_t bit = UINT64_C(1) << 31; bit > 0; bit >>= 1) {
    if ((root | bit) * (root | bit) < number) {
      root |= bit;
    }
  }
  return root + 1; /* root is the largest whose square is below the number */
}

bool dds_permutation_reserve(struct dds_permutation *permutation, int64_t most) {
  *permutation = (struct dds_permutation){0};
  if (most == 0) {
    return true;
  }
  size_t in_table = most < MOST_IN_TABLE ? (size_t)most : MOST_IN_TABLE;
  permutation->numbers = malloc(in_table * sizeof *permutation->numbers);
  if (permutation->numbers == NULL) {
    return false;
  }
  if (most > MOST_IN_TABLE) {
    uint64_t values = ceil_sqrt((uint64_t)most);
    values = values < MOST_VALUES ? values : MOST_VALUES;
    permutation->addends = malloc(DDS_PERMUTATION_ROUNDS * values * sizeof *permutation->addends);
    if (permutation->addends == NULL) {
      dds_permutation_free(permutation);
      return false;
    }
  }
  return true;
}

/* Shuffles by Fisher and Yates (Knuth, TAOCP 2, algorithm 3.4.2P). */
static void fill_table(uint16_t *numbers, uint64_t size, uint64_t key) {
  for (uint64_t i = 0; i < size; i++) {
    uint64_t j = dds_below(dds_word(key, i), i + 1);
    numbers[i] = numbers[j];
    numbers[j] = (uint16_t)i;
  }
}

void dds_permutation_set(struct dds_permutation *permutation, int64_t size, uint64_t key) {
  permutation->size = size;
  permutation->tabulated = false;
  if (size <= MOST_IN_TABLE) {
    fill_table(permutation->numbers, (uint64_t)size, key);
    return;
  }
  permutation->a = ceil_sqrt((uint64_t)size);
  permutation->b = ((uint64_t)size + permutation->a - 1) / permutation->a;
  permutation->inverse = (UINT64_C(1) << 63) / permutation->b;
  for (int round = 0; round < DDS_PERMUTATION_ROUNDS; round++) {
    permutation->keys[round] = dds_word(key, (uint64_t)round);
  }
}

void dds_permutation_free(struct dds_permutation *permutation) {
  free(permutation->numbers);
  free(permutation->addends);
  *permutation = (struct dds_permutation){0};
}

/* Returns number / b for a number in [0, 2^61]; the multiplication is at most 1 too low. */
static inline uint64_t quotient(const struct dds_permutation *permutation, uint64_t number) {
  uint64_t low = (uint64_t)((dds_uint128)(number << 1) * permutation->inverse >> 64);
  return low + (number - low * permutation->b >= permutation->b ? 1 : 0);
}

static inline uint64_t add(uint64_t value, uint64_t keyed, uint64_t modulus) {
  uint64_t less = value + dds_below(dds_mix(keyed), modulus) - modulus;
  return less + (-(less >> 63) & modulus); /* no branch, which would be unpredictable */
}

static int64_t network_at(const struct dds_permutation *permutation, uint64_t position) {
  const uint64_t *keys = permutation->keys;
  uint64_t a = permutation->a;
  uint64_t b = permutation->b;
  uint64_t number = position;
  do {
    uint64_t left = quotient(permutation, number);
    uint64_t right = number - left * b;
    for (int round = 0; round < DDS_PERMUTATION_ROUNDS; round += 2) {
      left = add(left, right ^ keys[round], a);
      right = add(right, left ^ keys[round + 1], b);
    }
    number = left * b + right;
  } while (number >= (uint64_t)permutation->size);
  return (int64_t)number;
}

int64_t dds_permutation_at(const struct dds_permutation *permutation, int64_t position) {
  return permutation->size <= MOST_IN_TABLE ? permutation->numbers[position]
                                            : network_at(permutation, (uint64_t)position);
}

static void compute_round(uint64_t *changed, const uint64_t *by, uint64_t key, uint64_t modulus, size_t count) {
  for (size_t i = 0; i < count; i++) {
    changed[i] = add(changed[i], by[i] ^ key, modulus);
  }
}

static void compute(const struct dds_permutation *permutation, int64_t *places, size_t count) {
  uint64_t left[COMPUTED_TOGETHER];
  uint64_t right[COMPUTED_TOGETHER];
  for (size_t i = 0; i < count; i++) {
    left[i] = quotient(permutation, (uint64_t)places[i]);
    right[i] = (uint64_t)places[i] - left[i] * permutation->b;
  }
  for (int round = 0; round < DDS_PERMUTATION_ROUNDS; round += 2) {
    compute_round(left, right, permutation->keys[round], permutation->a, count);
    compute_round(right, left, permutation->keys[round + 1], permutation->b, count);
  }
  for (size_t i = 0; i < count; i++) {
    uint64_t number = left[i] * permutation->b + right[i];
    places[i] = number < (uint64_t)permutation->size ? (int64_t)number : network_at(permutation, number);
  }
}

/* The tables of even rounds have b values, those of odd rounds a. */
static uint16_t *addends_of(const struct dds_permutation *permutation, int round) {
  size_t pairs = (size_t)(round / 2) * (permutation->a + permutation->b);
  return permutation->addends + pairs + (round % 2 == 0 ? 0 : permutation->b);
}

static void tabulate(struct dds_permutation *permutation) {
  for (int round = 0; round < DDS_PERMUTATION_ROUNDS; round++) {
    uint64_t values = round % 2 == 0 ? permutation->b : permutation->a;
    uint64_t modulus = round % 2 == 0 ? permutation->a : permutation->b;
    uint16_t *addends = addends_of(permutation, round);
    for (uint64_t value = 0; value < values; value++) {
      addends[value] = (uint16_t)dds_below(dds_mix(value ^ permutation->keys[round]), modulus);
    }
  }
  permutation->tabulated = true;
}

static void look_up_round(int32_t *changed, const int32_t *by, const uint16_t *addends, int32_t modulus, size_t count) {
  for (size_t i = 0; i < count; i++) {
    int32_t less = changed[i] + addends[by[i]] - modulus;
    changed[i] = less + (less < 0 ? modulus : 0);
  }
}

static void look_up(const struct dds_permutation *permutation, int64_t *places, size_t count) {
  int32_t left[LOOKED_UP_TOGETHER];
  int32_t right[LOOKED_UP_TOGETHER];
  for (size_t i = 0; i < count; i++) {
    uint64_t number = (uint64_t)places[i];
    left[i] = (int32_t)quotient(permutation, number);
    right[i] = (int32_t)(number - (uint64_t)left[i] * permutation->b);
  }
  for (int round = 0; round < DDS_PERMUTATION_ROUNDS; round += 2) {
    look_up_round(left, right, addends_of(permutation, round), (int32_t)permutation->a, count);
    look_up_round(right, left, addends_of(permutation, round + 1), (int32_t)permutation->b, count);
  }
  for (size_t i = 0; i < count; i++) {
    uint64_t number = (uint64_t)left[i] * permutation->b + (uint64_t)right[i];
    places[i] = number < (uint64_t)permutation->size ? (int64_t)number : network_at(permutation, number);
  }
}

void dds_permutation_replace(struct dds_permutation *permutation, int64_t *places, size_t count) {
  if (permutation->size <= MOST_IN_TABLE) {
    for (size_t i = 0; i < count; i++) {
      places[i] = permutation->numbers[places[i]];
    }
    return;
  }
  bool few_values = permutation->a <= MOST_VALUES;
  if (few_values && !permutation->tabulated) {
    tabulate(permutation);
  }
  size_t together = few_values ? LOOKED_UP_TOGETHER : COMPUTED_TOGETHER;
  for (size_t first = 0; first < count; first += together) {
    size_t chunk = count - first < together ? count - first : together;
    if (few_values) {
      look_up(permutation, places + first, chunk);
    } else {
      compute(permutation, places + first, chunk);
    }
  }
}
