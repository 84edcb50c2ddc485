// SPDX-License-Identifier: Apache-2.0
/*
 * Hashes of numbers that are the same in every language and version: those of KeyedHash in Java. All randomness of
 * the samplers is derived from them, so that a state can be resumed elsewhere and later. Words wrap at 64 bits.
 */
#ifndef DDS_KEYED_HASH_H
#define DDS_KEYED_HASH_H

#include <stdint.h>

__extension__ typedef unsigned __int128 dds_uint128;

/* First 64 bits of the fraction of the golden ratio, made odd. */
#define DDS_GOLDEN UINT64_C(0x9E3779B97F4A7C15)

/* Permutes 64-bit words: the finaliser of SplitMix64 (Steele, Lea, Flood, 2014). */
static inline uint64_t dds_mix(uint64_t word) {
  uint64_t z = (word ^ (word >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}

/* Returns a key of a seed alone, to which words are added: equal words give equal keys. */
static inline uint64_t dds_key(uint64_t seed) {
  return dds_mix(seed + DDS_GOLDEN);
}

static inline uint64_t dds_key_add(uint64_t key, uint64_t word) {
  return dds_mix(key + DDS_GOLDEN + word);
}

static inline uint64_t dds_word(uint64_t key, uint64_t position) {
  return dds_mix(key + position * DDS_GOLDEN);
}

/* Maps a random word uniformly to [0, bound) by its upper bits, with bound in [1, 2^62). */
static inline uint64_t dds_below(uint64_t word, uint64_t bound) {
  return (uint64_t)((dds_uint128)(word >> 1) * (bound << 1) >> 64);
}

/* Maps a random word uniformly to the open interval (0, 1). */
static inline double dds_open_unit(uint64_t word) {
  return ((double)(word >> 11) + 0.5) * 0x1.0p-53;
}

#endif
