// SPDX-License-Identifier: Apache-2.0
#include "sampler.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grouped.h"
#include "handle.h"
#include "keyed_hash.h"
#include "row_subset.h"

int dds_no_memory_for_sampler(size_t rows, struct dds_error *error) {
  return dds_fail(error, DDS_OUT_OF_MEMORY, "no memory for a sampler of %s rows", GROUPED((int64_t)rows));
}

int dds_check_value_count(size_t count, const char *what, struct dds_error *error) {
  if (count > INT32_MAX) {
    return dds_fail(error, DDS_INVALID_ARGUMENT, "%s %s, at most %s are possible", GROUPED((int64_t)count), what,
                    GROUPED(INT32_MAX));
  }
  return DDS_OK;
}

int dds_check_samples(int64_t samples, size_t values, const char *what, struct dds_error *error) {
  if (samples != (int64_t)values) {
    return dds_fail(error, DDS_INVALID_ARGUMENT, "%s samples, but %s %s: give one for each", GROUPED(samples),
                    GROUPED((int64_t)values), what);
  }
  return DDS_OK;
}

int dds_check_weights(const double *weights, size_t count, struct dds_error *error) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    if (!(weights[i] >= 0) || isinf(weights[i])) {
      return dds_fail(error, DDS_INVALID_ARGUMENT, "weight %g of number %s outside [0, infinity)", weights[i],
                      GROUPED((int64_t)i));
    }
    sum += weights[i];
  }
  if (!(sum > 0) || isinf(sum)) {
    return dds_fail(error, DDS_INVALID_ARGUMENT,
                    "%s weights sum to %g: at least one must be above 0, and the sum finite", GROUPED((int64_t)count),
                    sum);
  }
  return DDS_OK;
}

uint64_t dds_fingerprint_of_weights(const double *weights, size_t count) {
  uint64_t hash = count;
  for (size_t i = 0; i < count; i++) {
    uint64_t bits;
    memcpy(&bits, &weights[i], sizeof bits);
    hash = dds_key_add(dds_key(hash), bits);
  }
  return hash;
}

static int check_at_least_one(int64_t value, const char *name, struct dds_error *error) {
  if (value < 1 || value > INT32_MAX) {
    return dds_fail(error, DDS_INVALID_ARGUMENT, "%s %s must be at least 1, and at most %s", name, GROUPED(value),
                    GROUPED(INT32_MAX));
  }
  return DDS_OK;
}

void dds_sampler_free(struct dds_sampler *sampler) {
  if (sampler != NULL) {
    sampler->type->free(sampler);
  }
}

int dds_sampler_positions(const struct dds_sampler *sampler, int64_t samples, int64_t *positions,
                          struct dds_error *error) {
  if (sampler->type->positions != NULL) {
    return sampler->type->positions(sampler, samples, positions, error);
  }
  *positions = samples;
  return DDS_OK;
}

/* Samplers whose arguments are some numbers: sequential, shuffled and chunked. */
struct plain {
  struct dds_sampler sampler;
  uint64_t seed;
  int64_t block_rows;
  int64_t window_blocks;
};

static void free_plain(struct dds_sampler *sampler) {
  free(sampler);
}

static int make_plain(struct plain plain, struct dds_sampler **sampler, struct dds_error *error) {
  struct plain *made = malloc(sizeof *made);
  if (made == NULL) {
    return dds_fail(error, DDS_OUT_OF_MEMORY, "no memory for a sampler");
  }
  *made = plain;
  *sampler = &made->sampler;
  return DDS_OK;
}

static void describe_sequential(const struct dds_sampler *sampler, char text[DDS_MAX_DESCRIPTION]) {
  (void)sampler;
  snprintf(text, DDS_MAX_DESCRIPTION, "sequential");
}

static int order_sequential(const struct dds_sampler *sampler, const struct dds_turn *turn, struct dds_order **order,
                            struct dds_error *error) {
  (void)sampler;
  return dds_order_sequential(turn, order, error);
}

static const struct dds_sampler_type SEQUENTIAL = {
    .describe = describe_sequential, .order = order_sequential, .free = free_plain};

int dds_sampler_sequential(struct dds_sampler **sampler, struct dds_error *error) {
  return make_plain((struct plain){.sampler = {.type = &SEQUENTIAL}}, sampler, error);
}

static void describe_shuffled(const struct dds_sampler *sampler, char text[DDS_MAX_DESCRIPTION]) {
  snprintf(text, DDS_MAX_DESCRIPTION, "shuffled(%" PRId64 ")", (int64_t)((const struct plain *)sampler)->seed);
}

static int order_shuffled(const struct dds_sampler *sampler, const struct dds_turn *turn, struct dds_order **order,
                          struct dds_error *error) {
  return dds_order_shuffled(((const struct plain *)sampler)->seed, turn, order, error);
}

static const struct dds_sampler_type SHUFFLED = {
    .describe = describe_shuffled, .order = order_shuffled, .free = free_plain};

int dds_sampler_shuffled(int64_t seed, struct dds_sampler **sampler, struct dds_error *error) {
  return make_plain((struct plain){.sampler = {.type = &SHUFFLED}, .seed = (uint64_t)seed}, sampler, error);
}

static void describe_chunked(const struct dds_sampler *sampler, char text[DDS_MAX_DESCRIPTION]) {
  const struct plain *chunked = (const struct plain *)sampler;
  snprintf(text, DDS_MAX_DESCRIPTION, "chunked(%" PRId64 ", %" PRId64 "x%" PRId64 ")", (int64_t)chunked->seed,
           chunked->window_blocks, chunked->block_rows);
}

static int check_chunked_batch(const struct dds_sampler *sampler, int64_t samples, struct dds_error *error) {
  const struct plain *chunked = (const struct plain *)sampler;
  int64_t window_rows = chunked->block_rows * chunked->window_blocks;
  if (samples >= 1 && window_rows % samples == 0) {
    return DDS_OK;
  }
  return dds_fail(
      error, DDS_INVALID_ARGUMENT,
      "a batch of %s rows does not divide a window of %" PRId64 " blocks of %" PRId64
      " rows: use a divisor of %s, or a window_blocks for which window_blocks x %" PRId64 " is a multiple of the batch",
      GROUPED(samples), chunked->window_blocks, chunked->block_rows, GROUPED(window_rows), chunked->block_rows);
}

static int order_chunked(const struct dds_sampler *sampler, const struct dds_turn *turn, struct dds_order **order,
                         struct dds_error *error) {
  const struct plain *chunked = (const struct plain *)sampler;
  return dds_order_chunked(chunked->seed, chunked->block_rows, chunked->block_rows * chunked->window_blocks, turn,
                           order, error);
}

static const struct dds_sampler_type CHUNKED = {
    .describe = describe_chunked, .check_batch = check_chunked_batch, .order = order_chunked, .free = free_plain};

int dds_sampler_chunked(int64_t seed, int64_t block_rows, int64_t window_blocks, struct dds_sampler **sampler,
                        struct dds_error *error) {
  int code = check_at_least_one(block_rows, "block_rows", error);
  if (code == DDS_OK) {
    code = check_at_least_one(window_blocks, "window_blocks", error);
  }
  if (code != DDS_OK) {
    return code;
  }
  return make_plain((struct plain){.sampler = {.type = &CHUNKED},
                                   .seed = (uint64_t)seed,
                                   .block_rows = block_rows,
                                   .window_blocks = window_blocks},
                    sampler, error);
}

/*
 * A sampler of the rows of a subset.
 *
 * whole  sampler of all rows, borrowed
 * inner  order of the samples of the subset, by their numbers in it; NULL: whole serves
 */
struct within {
  struct dds_sampler sampler;
  const struct dds_sampler *whole;
  struct dds_sampler *inner;
  struct dds_subset *subset;
  char words[DDS_SUBSET_WORDS];
};

static const struct dds_sampler *inner_of(const struct dds_sampler *sampler) {
  const struct within *within = (const struct within *)sampler;
  return within->inner != NULL ? within->inner : within->whole;
}

static void free_within(struct dds_sampler *sampler) {
  struct within *within = (struct within *)sampler;
  dds_sampler_free(within->inner);
  dds_subset_free(within->subset);
  free(within);
}

static void describe_within(const struct dds_sampler *sampler, char text[DDS_MAX_DESCRIPTION]) {
  const struct dds_sampler *inner = inner_of(sampler);
  char order[DDS_MAX_DESCRIPTION];
  inner->type->describe(inner, order);
  int begin = snprintf(text, DDS_MAX_DESCRIPTION, "within(%s) ", ((const struct within *)sampler)->words);
  snprintf(text + begin, (size_t)(DDS_MAX_DESCRIPTION - begin), "%s", order);
}

static int positions_within(const struct dds_sampler *sampler, int64_t samples, int64_t *positions,
                            struct dds_error *error) {
  return dds_sampler_positions(inner_of(sampler), samples, positions, error);
}

static int check_batch_within(const struct dds_sampler *sampler, int64_t samples, struct dds_error *error) {
  const struct dds_sampler *inner = inner_of(sampler);
  return inner->type->check_batch == NULL ? DDS_OK : inner->type->check_batch(inner, samples, error);
}

static int order_within(const struct dds_sampler *sampler, const struct dds_turn *turn, struct dds_order **order,
                        struct dds_error *error) {
  const struct dds_sampler *inner = inner_of(sampler);
  return inner->type->order(inner, turn, order, error);
}

static const struct dds_sampler_type WITHIN = {.describe = describe_within,
                                               .positions = positions_within,
                                               .check_batch = check_batch_within,
                                               .order = order_within,
                                               .free = free_within};

const struct dds_subset *dds_sampler_subset(const struct dds_sampler *sampler) {
  return sampler->type == &WITHIN ? ((const struct within *)sampler)->subset : NULL;
}

int dds_sampler_within(const struct dds_sampler *sampler, const struct dds_subset *subset, struct dds_sampler **within,
                       struct dds_error *error) {
  struct within *made = calloc(1, sizeof *made);
  if (made == NULL) {
    return dds_fail(error, DDS_OUT_OF_MEMORY, "no memory for a sampler");
  }
  const struct dds_subset *before = dds_sampler_subset(sampler);
  made->sampler.type = &WITHIN;
  made->whole = before != NULL ? ((const struct within *)sampler)->whole : sampler;
  made->subset = before != NULL ? dds_subset_and(before, subset) : dds_subset_copy(subset);
  int code = DDS_OK;
  if (made->subset == NULL) {
    code = dds_no_memory_for_sampler((size_t)dds_subset_size(subset), error);
  } else if (made->whole->type->for_samples != NULL) {
    code = made->whole->type->for_samples(made->whole, made->subset, &made->inner, error);
  }
  if (code != DDS_OK) {
    free_within(&made->sampler);
    return code;
  }
  dds_subset_describe(made->subset, made->words);
  *within = &made->sampler;
  return DDS_OK;
}
