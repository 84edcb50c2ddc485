// SPDX-License-Identifier: Apache-2.0
#include "row_subset.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grouped.h"
#include "handle.h"
#include "keyed_hash.h"

#define NONE INT64_MAX
#define WORD_BITS 64
#define BLOCK_WORDS 8
#define MAX_WORDS (INT32_MAX - 8)

/*
 * Runs or a bitmap, whichever is smaller; equal sets have equal form, because fingerprints are those of Java.
 *
 * bounds     first row and end of each run, ascending and with gaps between runs; NULL with a bitmap
 * positions  number of rows before each run, and of all
 * words      bit row % 64 of word row / 64 is set for each row; the last word is not 0; NULL with runs
 * before     number of rows before each block of 8 words, and of all
 */
struct dds_subset {
  int64_t size;
  int64_t end;
  size_t runs;
  int64_t *bounds;
  int64_t *positions;
  size_t word_count;
  uint64_t *words;
  int64_t *before;
};

void dds_subset_free(struct dds_subset *subset) {
  if (subset != NULL) {
    free(subset->bounds);
    free(subset->positions);
    free(subset->words);
    free(subset->before);
    free(subset);
  }
}

/* Returns the last element but the end that is at most a value, or 0; elements ascend. */
static size_t last_at_most(const int64_t *ascending, size_t length, int64_t value) {
  size_t low = 0;
  size_t high = length - 2;
  while (low < high) {
    size_t middle = low + (high - low + 1) / 2;
    if (ascending[middle] <= value) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

/* Returns the index of the first bound above a row: odd within a run, even between runs. */
static size_t bound_above(const struct dds_subset *subset, int64_t row) {
  size_t low = 0;
  size_t high = 2 * subset->runs;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (subset->bounds[middle] <= row) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Returns the first row at or after from whose bit differs from those of a word. */
static int64_t next_bit(const struct dds_subset *subset, int64_t from, uint64_t skipped) {
  size_t word = (size_t)from / WORD_BITS;
  if (word >= subset->word_count) {
    return from;
  }
  uint64_t bits = (subset->words[word] ^ skipped) & (UINT64_MAX << (from % WORD_BITS));
  while (bits == 0) {
    word++;
    if (word == subset->word_count) {
      return (int64_t)word * WORD_BITS;
    }
    bits = subset->words[word] ^ skipped;
  }
  return (int64_t)word * WORD_BITS + __builtin_ctzll(bits);
}

/* Returns the first row at or after from, or NONE. */
static int64_t next_row(const struct dds_subset *subset, int64_t from) {
  if (subset->words != NULL) {
    int64_t next = next_bit(subset, from, 0);
    return next < (int64_t)subset->word_count * WORD_BITS ? next : NONE;
  }
  size_t bound = bound_above(subset, from);
  if (bound % 2 == 1) {
    return from;
  }
  return bound < 2 * subset->runs ? subset->bounds[bound] : NONE;
}

/* Returns the first number at or after from that is not a row. */
static int64_t next_gap(const struct dds_subset *subset, int64_t from) {
  if (subset->words != NULL) {
    return next_bit(subset, from, UINT64_MAX);
  }
  size_t bound = bound_above(subset, from);
  return bound % 2 == 1 ? subset->bounds[bound] : from;
}

/*
 * A sequence of runs in ascending order, of bounds, of single rows, or of the rows of one or two subsets. A copy
 * begins where the original is.
 */
struct runs {
  const int64_t *bounds;
  const int64_t *rows;
  size_t count; /* bounds or rows */
  size_t at;
  const struct dds_subset *left;
  const struct dds_subset *right;
  int64_t from;
  bool has_next;
  int64_t next_first;
  int64_t next_end;
};

static bool shared_run(struct runs *runs, int64_t *first, int64_t *end) {
  while (true) {
    int64_t left = next_row(runs->left, runs->from);
    int64_t shared = left == NONE ? NONE : next_row(runs->right, left);
    if (shared == NONE) {
      return false;
    }
    runs->from = shared;
    if (next_row(runs->left, shared) == shared) {
      int64_t left_end = next_gap(runs->left, shared);
      int64_t right_end = next_gap(runs->right, shared);
      *first = shared;
      *end = left_end < right_end ? left_end : right_end;
      runs->from = *end;
      return true;
    }
  }
}

/* Reads a run, which can be empty or begin at the end of the one before it. */
static bool read_run(struct runs *runs, int64_t *first, int64_t *end) {
  if (runs->left != NULL) {
    return shared_run(runs, first, end);
  }
  if (runs->at == runs->count) {
    return false;
  }
  if (runs->rows != NULL) {
    *first = runs->rows[runs->at++];
    *end = *first + 1;
  } else {
    *first = runs->bounds[runs->at++];
    *end = runs->bounds[runs->at++];
  }
  return true;
}

/* Reads a run that is not empty, with a gap to the next one. */
static bool next_run(struct runs *runs, int64_t *first, int64_t *end) {
  *first = 0;
  *end = 0;
  if (runs->has_next) {
    *first = runs->next_first;
    *end = runs->next_end;
    runs->has_next = false;
  }
  while (read_run(runs, &runs->next_first, &runs->next_end)) {
    if (runs->next_first == runs->next_end) {
      continue;
    }
    if (*first == *end) {
      *first = runs->next_first;
    } else if (runs->next_first != *end) {
      runs->has_next = true;
      return true;
    }
    *end = runs->next_end;
  }
  return *first < *end;
}

static void set_bits(uint64_t *words, int64_t first, int64_t end) {
  size_t word = (size_t)first / WORD_BITS;
  size_t last = (size_t)(end - 1) / WORD_BITS;
  uint64_t low = UINT64_MAX << (first % WORD_BITS);
  uint64_t high = UINT64_MAX >> ((WORD_BITS - end % WORD_BITS) % WORD_BITS);
  if (word == last) {
    words[word] |= low & high;
    return;
  }
  words[word] |= low;
  memset(words + word + 1, 0xff, (last - word - 1) * sizeof *words);
  words[last] |= high;
}

static bool build_runs(struct dds_subset *subset, struct runs runs) {
  subset->bounds = malloc((2 * subset->runs + 1) * sizeof *subset->bounds);
  subset->positions = malloc((subset->runs + 1) * sizeof *subset->positions);
  if (subset->bounds == NULL || subset->positions == NULL) {
    return false;
  }
  int64_t size = 0;
  for (size_t run = 0; run < subset->runs; run++) {
    next_run(&runs, &subset->bounds[2 * run], &subset->bounds[2 * run + 1]);
    subset->positions[run] = size;
    size += subset->bounds[2 * run + 1] - subset->bounds[2 * run];
  }
  subset->positions[subset->runs] = size;
  return true;
}

static bool build_bitmap(struct dds_subset *subset, struct runs runs) {
  size_t blocks = (subset->word_count + BLOCK_WORDS - 1) / BLOCK_WORDS;
  subset->words = calloc(subset->word_count, sizeof *subset->words);
  subset->before = malloc((blocks + 1) * sizeof *subset->before);
  if (subset->words == NULL || subset->before == NULL) {
    return false;
  }
  int64_t first;
  int64_t end;
  while (next_run(&runs, &first, &end)) {
    set_bits(subset->words, first, end);
  }
  int64_t count = 0;
  for (size_t word = 0; word < subset->word_count; word++) {
    if (word % BLOCK_WORDS == 0) {
      subset->before[word / BLOCK_WORDS] = count;
    }
    count += __builtin_popcountll(subset->words[word]);
  }
  subset->before[blocks] = count;
  return true;
}

/* Returns the set of the rows of runs; NULL without memory. */
static struct dds_subset *build(struct runs runs) {
  struct dds_subset *subset = calloc(1, sizeof *subset);
  if (subset == NULL) {
    return NULL;
  }
  struct runs counted = runs;
  int64_t first;
  int64_t end;
  while (next_run(&counted, &first, &end)) {
    subset->runs++;
    subset->size += end - first;
    subset->end = end;
  }
  size_t words = (size_t)subset->end / WORD_BITS + (subset->end % WORD_BITS != 0);
  bool smaller_as_runs = subset->runs <= 1 || 2 * subset->runs <= words || words > MAX_WORDS;
  subset->word_count = smaller_as_runs ? 0 : words;
  if (!(smaller_as_runs ? build_runs(subset, runs) : build_bitmap(subset, runs))) {
    dds_subset_free(subset);
    return NULL;
  }
  return subset;
}

static int built(struct runs runs, struct dds_subset **subset, struct dds_error *error) {
  *subset = build(runs);
  return *subset != NULL ? DDS_OK : dds_fail(error, DDS_OUT_OF_MEMORY, "no memory for a subset of rows");
}

int dds_subset_of_ranges(const int64_t *bounds, size_t ranges, struct dds_subset **subset, struct dds_error *error) {
  int64_t previous = 0;
  for (size_t i = 0; i < ranges; i++) {
    int64_t first = bounds[2 * i];
    int64_t end = bounds[2 * i + 1];
    if (first < previous || end < first) {
      return dds_fail(error, DDS_INVALID_ARGUMENT,
                      "rows [%s, %s): give ranges in ascending order, the first row from %s and the end from the "
                      "first row",
                      GROUPED(first), GROUPED(end), GROUPED(previous));
    }
    previous = end;
  }
  return built((struct runs){.bounds = bounds, .count = 2 * ranges}, subset, error);
}

int dds_subset_of_rows(const int64_t *rows, size_t count, struct dds_subset **subset, struct dds_error *error) {
  int64_t previous = -1;
  for (size_t i = 0; i < count; i++) {
    if (rows[i] <= previous || rows[i] == INT64_MAX) {
      return dds_fail(error, DDS_INVALID_ARGUMENT,
                      "row %s at %s: give rows in ascending order, each once, here from %s on", GROUPED(rows[i]),
                      GROUPED((int64_t)i), GROUPED(previous + 1));
    }
    previous = rows[i];
  }
  return built((struct runs){.rows = rows, .count = count}, subset, error);
}

struct dds_subset *dds_subset_and(const struct dds_subset *subset, const struct dds_subset *other) {
  return build((struct runs){.left = subset, .right = other});
}

struct dds_subset *dds_subset_copy(const struct dds_subset *subset) {
  return dds_subset_and(subset, subset);
}

int64_t dds_subset_size(const struct dds_subset *subset) {
  return subset->size;
}

int64_t dds_subset_end(const struct dds_subset *subset) {
  return subset->end;
}

static int64_t row_of_bitmap(const struct dds_subset *subset, int64_t position) {
  size_t blocks = (subset->word_count + BLOCK_WORDS - 1) / BLOCK_WORDS;
  size_t word = last_at_most(subset->before, blocks + 1, position);
  int64_t left = position - subset->before[word];
  word *= BLOCK_WORDS;
  int count = __builtin_popcountll(subset->words[word]);
  while (left >= count) {
    left -= count;
    word++;
    count = __builtin_popcountll(subset->words[word]);
  }
  uint64_t bits = subset->words[word];
  for (; left > 0; left--) {
    bits &= bits - 1;
  }
  return (int64_t)word * WORD_BITS + __builtin_ctzll(bits);
}

int64_t dds_subset_row(const struct dds_subset *subset, int64_t position) {
  if (subset->words != NULL) {
    return row_of_bitmap(subset, position);
  }
  size_t run = subset->runs == 1 ? 0 : last_at_most(subset->positions, subset->runs + 1, position);
  return subset->bounds[2 * run] + position - subset->positions[run];
}

static bool is_one_run(const struct dds_subset *subset) {
  return subset->words == NULL && subset->runs <= 1;
}

void dds_subset_describe(const struct dds_subset *subset, char words[DDS_SUBSET_WORDS]) {
  if (is_one_run(subset)) {
    snprintf(words, DDS_SUBSET_WORDS, "%" PRId64 "-%" PRId64, subset->end - subset->size, subset->end);
    return;
  }
  size_t length = subset->words != NULL ? subset->word_count : 2 * subset->runs;
  uint64_t hash = dds_key(length);
  for (size_t i = 0; i < length; i++) {
    hash = dds_key_add(hash, subset->words != NULL ? subset->words[i] : (uint64_t)subset->bounds[i]);
  }
  snprintf(words, DDS_SUBSET_WORDS, "%" PRId64 " of %016" PRIx64, subset->size, hash);
}

int dds_subset_check_within(const struct dds_subset *subset, int64_t stored, struct dds_error *error) {
  if (subset->end <= stored) {
    return DDS_OK;
  }
  int64_t first = dds_subset_row(subset, 0);
  const char *end = GROUPED(subset->end);
  const char *remedy = "make the subset from this store";
  return is_one_run(subset)
             ? dds_fail(error, DDS_INVALID_ARGUMENT,
                        "subset of rows [%s, %s) reaches row %s, the store has the rows [0, %s): %s", GROUPED(first),
                        end, GROUPED(subset->end - 1), GROUPED(stored), remedy)
             : dds_fail(error, DDS_INVALID_ARGUMENT,
                        "subset of %s rows in [%s, %s) reaches row %s, the store has the rows [0, %s): %s",
                        GROUPED(subset->size), GROUPED(first), end, GROUPED(subset->end - 1), GROUPED(stored), remedy);
}

int dds_subset_check_values(const struct dds_subset *subset, size_t values, const char *what, struct dds_error *error) {
  if ((uint64_t)subset->end <= values) {
    return DDS_OK;
  }
  return dds_fail(error, DDS_INVALID_ARGUMENT,
                  "%s %s, but the subset has rows up to %s: give one for each row of the store",
                  GROUPED((int64_t)values), what, GROUPED(subset->end - 1));
}
