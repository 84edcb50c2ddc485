// SPDX-License-Identifier: Apache-2.0
/*
 * Permutations of [0, size) by a key, computed for each position: those of Permutation.keyed in Java. Up to 65,536
 * numbers are a table of two bytes each. More pass a Feistel network of six rounds over pairs of [0, a) x [0, b),
 * in constant memory.
 */
#ifndef DDS_PERMUTATION_H
#define DDS_PERMUTATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DDS_PERMUTATION_ROUNDS 6
#define DDS_PERMUTATION_MOST (INT64_C(1) << 61)

/*
 * size       numbers that are permuted
 * numbers    table of few numbers
 * addends    what each round adds, by the value of the other half; valid if it is tabulated
 * inverse    2^63 / b, rounded down, and below 2^63
 */
struct dds_permutation {
  int64_t size;
  uint16_t *numbers;
  uint16_t *addends;
  bool tabulated;
  uint64_t a;
  uint64_t b;
  uint64_t inverse;
  uint64_t keys[DDS_PERMUTATION_ROUNDS];
};

/* Allocates the tables for up to most numbers, of at most 2^61. Returns false without memory. */
bool dds_permutation_reserve(struct dds_permutation *permutation, int64_t most);

/* Sets size, which must not exceed what is reserved, and key. */
void dds_permutation_set(struct dds_permutation *permutation, int64_t size, uint64_t key);

/* Frees the tables of a permutation that is reserved, or all zero. */
void dds_permutation_free(struct dds_permutation *permutation);

/* Returns the number at a position in [0, size), not checked. */
int64_t dds_permutation_at(const struct dds_permutation *permutation, int64_t position);

/* Replaces positions in [0, size), not checked, by the numbers at them. */
void dds_permutation_replace(struct dds_permutation *permutation, int64_t *places, size_t count);

#endif
