// SPDX-License-Identifier: Apache-2.0
/* Rows of all classes in equal numbers, or in proportion to class weights: ClassBalancedSampler in Java. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alias_table.h"
#include "grouped.h"
#include "handle.h"
#include "keyed_hash.h"
#include "permutation.h"
#include "row_subset.h"
#include "sampler.h"

#define MAX_LABEL (INT32_MAX - 1)

/* Positions that are replaced together. */
#define TOGETHER 512

/*
 * draws        samples per epoch with replacement; -1 without
 * classes      number of classes; a class can have no rows
 * labels       class of each row
 * rows         rows of class 0, class 1, ..: those of a class from starts[class] to starts[class + 1]
 * weights      share of each class
 * has_weights  whether the caller gave them
 * table        with replacement only
 */
struct balance {
  struct dds_sampler sampler;
  uint64_t seed;
  int64_t block_rows;
  int64_t draws;
  size_t count;
  size_t classes;
  int32_t *labels;
  int32_t *starts;
  int32_t *rows;
  double *weights;
  bool has_weights;
  uint64_t fingerprint;
  struct dds_alias_table table;
};

static void free_balance(struct dds_sampler *sampler) {
  struct balance *balance = (struct balance *)sampler;
  free(balance->labels);
  free(balance->starts);
  free(balance->rows);
  free(balance->weights);
  dds_alias_table_free(&balance->table);
  free(balance);
}

static int64_t class_size(const struct balance *balance, size_t label) {
  return balance->starts[label + 1] - balance->starts[label];
}

static void describe(const struct dds_sampler *sampler, char text[DDS_MAX_DESCRIPTION]) {
  const struct balance *balance = (const struct balance *)sampler;
  char draws[24] = "";
  char blocks[24] = "";
  if (balance->draws >= 0) {
    snprintf(draws, sizeof draws, "%" PRId64 " ", balance->draws);
  }
  if (balance->block_rows != 1) {
    snprintf(blocks, sizeof blocks, "by %" PRId64 " ", balance->block_rows);
  }
  snprintf(text, DDS_MAX_DESCRIPTION, "classes(%" PRId64 ", %s%sof %016" PRIx64 ")", (int64_t)balance->seed, draws,
           blocks, balance->fingerprint);
}

/* Sets the first block of each class, and the number of blocks: the most that the scarcest class allows. */
static int count_blocks(const struct balance *balance, int64_t *first, struct dds_error *error) {
  double scarcest = 0;
  for (size_t label = 0, found = 0; label < balance->classes; label++) {
    if (balance->weights[label] > 0) {
      double rows = (double)class_size(balance, label) / balance->weights[label];
      scarcest = found++ == 0 || rows < scarcest ? rows : scarcest;
    }
  }
  first[0] = 0;
  for (size_t label = 0; label < balance->classes; label++) {
    double weight = balance->weights[label];
    int64_t quota = 0;
    if (weight > 0) {
      /* Rounding can put a quota just below the whole number that it is. */
      double rows = scarcest * weight * (1 + 1e-12);
      int64_t most = class_size(balance, label);
      quota = rows < (double)most ? (int64_t)rows : most;
      if (quota < balance->block_rows) {
        return dds_fail(error, DDS_INVALID_ARGUMENT,
                        "class %zu (weight %g) has %s rows in an epoch without replacement, less than a block of %s: "
                        "raise its weight or set it to 0, use smaller blocks, or draw with replacement",
                        label, weight, GROUPED(quota), GROUPED(balance->block_rows));
      }
    }
    first[label + 1] = first[label] + quota / balance->block_rows;
  }
  return DDS_OK;
}

static int64_t *memory_for_blocks(const struct balance *balance, struct dds_error *error) {
  int64_t *first = malloc((balance->classes + 1) * sizeof *first);
  if (first == NULL) {
    dds_no_memory_for_order((int64_t)balance->count, error);
  }
  return first;
}

static int positions(const struct dds_sampler *sampler, int64_t samples, int64_t *positions, struct dds_error *error) {
  const struct balance *balance = (const struct balance *)sampler;
  (void)samples;
  *positions = balance->draws;
  if (balance->draws >= 0) {
    return DDS_OK;
  }
  int64_t *first = memory_for_blocks(balance, error);
  if (first == NULL) {
    return DDS_OUT_OF_MEMORY;
  }
  int code = count_blocks(balance, first, error);
  *positions = code == DDS_OK ? first[balance->classes] * balance->block_rows : 0;
  free(first);
  return code;
}

/*
 * The order without replacement: blocks of all classes are shuffled, and each class contributes its rows in turn.
 *
 * turns   permutation of the rows of each class
 * starts  turn of each class at which the epoch begins
 */
struct quotas {
  struct dds_order order;
  const struct balance *balance;
  int64_t *first_block;
  struct dds_permutation blocks;
  struct dds_permutation *turns;
  int64_t *starts;
};

static void free_quotas(struct dds_order *order) {
  struct quotas *quotas = (struct quotas *)order;
  for (size_t label = 0; quotas->turns != NULL && label < quotas->balance->classes; label++) {
    dds_permutation_free(&quotas->turns[label]);
  }
  dds_permutation_free(&quotas->blocks);
  free(quotas->first_block);
  free(quotas->turns);
  free(quotas->starts);
  free(quotas);
}

/* Returns the class of a block: the last whose first block is at most it, because a class may have no block. */
static size_t class_of(const struct quotas *quotas, int64_t block) {
  size_t low = 0;
  size_t high = quotas->balance->classes - 1;
  while (low < high) {
    size_t middle = low + (high - low + 1) / 2;
    if (quotas->first_block[middle] <= block) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

static void replace_balanced(struct dds_order *order, int64_t *places, size_t count) {
  struct quotas *quotas = (struct quotas *)order;
  const struct balance *balance = quotas->balance;
  int64_t blocks[TOGETHER];
  for (size_t first = 0; first < count; first += TOGETHER) {
    size_t chunk = count - first < TOGETHER ? count - first : TOGETHER;
    for (size_t i = 0; i < chunk; i++) {
      blocks[i] = places[first + i] / balance->block_rows;
    }
    dds_permutation_replace(&quotas->blocks, blocks, chunk);
    for (size_t i = 0; i < chunk; i++) {
      size_t label = class_of(quotas, blocks[i]);
      int64_t number = (blocks[i] - quotas->first_block[label]) * balance->block_rows;
      int64_t turn = quotas->starts[label] + number + places[first + i] % balance->block_rows;
      int64_t size = quotas->turns[label].size;
      turn = dds_permutation_at(&quotas->turns[label], turn >= size ? turn - size : turn);
      places[first + i] = balance->rows[balance->starts[label] + turn];
    }
  }
}

/* Prepares the permutation of each class that contributes. Returns false without memory. */
static bool prepare_classes(struct quotas *quotas, int64_t number) {
  const struct balance *balance = quotas->balance;
  for (size_t label = 0; label < balance->classes; label++) {
    int64_t quota = (quotas->first_block[label + 1] - quotas->first_block[label]) * balance->block_rows;
    int64_t size = class_size(balance, label);
    if (quota == 0) {
      continue;
    }
    if (!dds_permutation_reserve(&quotas->turns[label], size)) {
      return false;
    }
    dds_permutation_set(&quotas->turns[label], size, dds_key_add(dds_key_add(dds_key(balance->seed), 1), label));
    int64_t start = (int64_t)((uint64_t)number * (uint64_t)quota) % size; /* wraps as in Java */
    quotas->starts[label] = start < 0 ? start + size : start;
  }
  return true;
}

static int order_by_quotas(const struct balance *balance, const struct dds_turn *turn, struct dds_order **order,
                           struct dds_error *error) {
  struct quotas *quotas = calloc(1, sizeof *quotas);
  if (quotas == NULL) {
    return dds_no_memory_for_order(turn->samples, error);
  }
  quotas->balance = balance;
  quotas->first_block = memory_for_blocks(balance, error);
  quotas->turns = calloc(balance->classes, sizeof *quotas->turns);
  quotas->starts = calloc(balance->classes, sizeof *quotas->starts);
  int code = DDS_OUT_OF_MEMORY;
  if (quotas->first_block != NULL && quotas->turns != NULL && quotas->starts != NULL) {
    code = count_blocks(balance, quotas->first_block, error);
  }
  if (code == DDS_OK) {
    int64_t blocks = quotas->first_block[balance->classes];
    uint64_t key = dds_key_add(dds_key_add(dds_key(balance->seed), 0), (uint64_t)turn->number);
    if (!dds_permutation_reserve(&quotas->blocks, blocks) || !prepare_classes(quotas, turn->number)) {
      code = DDS_OUT_OF_MEMORY;
    } else {
      dds_permutation_set(&quotas->blocks, blocks, dds_key_add(key, (uint64_t)turn->part));
      quotas->order =
          (struct dds_order){.size = blocks * balance->block_rows, .replace = replace_balanced, .free = free_quotas};
      *order = &quotas->order;
      return DDS_OK;
    }
  }
  free_quotas(&quotas->order);
  return code == DDS_OUT_OF_MEMORY ? dds_no_memory_for_order(turn->samples, error) : code;
}

struct class_draws {
  struct dds_order order;
  const struct balance *balance;
  uint64_t key;
};

static void replace_drawn(struct dds_order *order, int64_t *places, size_t count) {
  const struct class_draws *draws = (const struct class_draws *)order;
  const struct balance *balance = draws->balance;
  for (size_t i = 0; i < count; i++) {
    uint64_t position = (uint64_t)places[i];
    uint64_t block = position / (uint64_t)balance->block_rows;
    int32_t label =
        dds_alias_table_draw(&balance->table, dds_word(~draws->key, 2 * block), dds_word(~draws->key, 2 * block + 1));
    uint64_t number = dds_below(dds_word(draws->key, position), (uint64_t)class_size(balance, (size_t)label));
    places[i] = balance->rows[balance->starts[label] + (int64_t)number];
  }
}

static void free_draws(struct dds_order *order) {
  free(order);
}

static int order(const struct dds_sampler *sampler, const struct dds_turn *turn, struct dds_order **order,
                 struct dds_error *error) {
  const struct balance *balance = (const struct balance *)sampler;
  int code = dds_check_samples(turn->samples, balance->count, "labels", error);
  if (code != DDS_OK) {
    return code;
  }
  if (balance->draws < 0) {
    return order_by_quotas(balance, turn, order, error);
  }
  struct class_draws *draws = malloc(sizeof *draws);
  if (draws == NULL) {
    return dds_no_memory_for_order(turn->samples, error);
  }
  uint64_t key = dds_key_add(dds_key(balance->seed), (uint64_t)turn->number);
  *draws = (struct class_draws){.order = {.size = balance->draws, .replace = replace_drawn, .free = free_draws},
                                .balance = balance,
                                .key = dds_key_add(key, (uint64_t)turn->part)};
  *order = &draws->order;
  return DDS_OK;
}

/* Sorts the rows by class. */
static void sort_rows(struct balance *balance) {
  for (size_t row = 0; row < balance->count; row++) {
    balance->starts[balance->labels[row] + 1]++;
  }
  for (size_t label = 0; label < balance->classes; label++) {
    balance->starts[label + 1] += balance->starts[label];
  }
  for (size_t row = 0; row < balance->count; row++) {
    balance->rows[balance->starts[balance->labels[row]]++] = (int32_t)row;
  }
  for (size_t label = balance->classes; label > 0; label--) { /* each start has become the end of its class */
    balance->starts[label] = balance->starts[label - 1];
  }
  balance->starts[0] = 0;
}

/* Sets the given weights, or 1 for each class that has rows. */
static int set_weights(struct balance *balance, const double *weights, size_t count, struct dds_error *error) {
  if (weights != NULL && count != balance->classes) {
    return dds_fail(error, DDS_INVALID_ARGUMENT, "%zu weights for the %zu classes [0, %zu)", count, balance->classes,
                    balance->classes);
  }
  for (size_t label = 0; label < balance->classes; label++) {
    balance->weights[label] = weights != NULL ? weights[label] : class_size(balance, label) > 0;
  }
  int code = dds_check_weights(balance->weights, balance->classes, error);
  for (size_t label = 0; code == DDS_OK && label < balance->classes; label++) {
    if (balance->weights[label] > 0 && class_size(balance, label) == 0) {
      code = dds_fail(error, DDS_INVALID_ARGUMENT, "class %zu has the weight %g and no rows: give it 0", label,
                      balance->weights[label]);
    }
  }
  return code;
}

static void set_fingerprint(struct balance *balance) {
  uint64_t labels = balance->count;
  for (size_t row = 0; row < balance->count; row++) {
    labels = dds_key_add(dds_key(labels), (uint64_t)balance->labels[row]);
  }
  uint64_t weights = dds_fingerprint_of_weights(balance->weights, balance->classes);
  balance->fingerprint = dds_key_add(dds_key_add(dds_key(2), labels), weights);
}

/* Makes a sampler of checked labels. weights: NULL for equal ones. draws: -1 without replacement. */
static int make(const struct balance *like, const int32_t *labels, size_t count, const double *weights,
                size_t weight_count, struct dds_sampler **sampler, struct dds_error *error);

static int for_samples(const struct dds_sampler *sampler, const struct dds_subset *samples, struct dds_sampler **inner,
                       struct dds_error *error) {
  const struct balance *balance = (const struct balance *)sampler;
  int code = dds_subset_check_values(samples, balance->count, "labels", error);
  if (code != DDS_OK) {
    return code;
  }
  size_t count = (size_t)dds_subset_size(samples);
  int32_t *selected = malloc((count + 1) * sizeof *selected);
  if (selected == NULL) {
    return dds_no_memory_for_sampler(count, error);
  }
  for (size_t i = 0; i < count; i++) {
    selected[i] = balance->labels[dds_subset_row(samples, (int64_t)i)];
  }
  code = make(balance, selected, count, balance->has_weights ? balance->weights : NULL, balance->classes, inner, error);
  free(selected);
  return code;
}

static const struct dds_sampler_type BALANCED = {
    .describe = describe, .positions = positions, .order = order, .for_samples = for_samples, .free = free_balance};

static int make(const struct balance *like, const int32_t *labels, size_t count, const double *weights,
                size_t weight_count, struct dds_sampler **sampler, struct dds_error *error) {
  struct balance *balance = calloc(1, sizeof *balance);
  if (balance == NULL) {
    return dds_no_memory_for_sampler(count, error);
  }
  *balance = (struct balance){.sampler = {.type = &BALANCED},
                              .seed = like->seed,
                              .block_rows = like->block_rows,
                              .draws = like->draws,
                              .count = count,
                              .classes = like->classes,
                              .labels = malloc((count + 1) * sizeof *labels),
                              .starts = calloc(like->classes + 1, sizeof *balance->starts),
                              .rows = malloc((count + 1) * sizeof *balance->rows),
                              .weights = malloc((like->classes + 1) * sizeof *weights),
                              .has_weights = weights != NULL};
  int code = DDS_OUT_OF_MEMORY;
  if (balance->labels != NULL && balance->starts != NULL && balance->rows != NULL && balance->weights != NULL) {
    if (count > 0) {
      memcpy(balance->labels, labels, count * sizeof *labels);
    }
    sort_rows(balance);
    code = set_weights(balance, weights, weight_count, error);
  }
  if (code == DDS_OK) {
    set_fingerprint(balance);
    if (balance->draws < 0 || dds_alias_table_build(&balance->table, balance->weights, balance->classes)) {
      *sampler = &balance->sampler;
      return DDS_OK;
    }
    code = DDS_OUT_OF_MEMORY;
  }
  free_balance(&balance->sampler);
  return code == DDS_OUT_OF_MEMORY ? dds_no_memory_for_sampler(count, error) : code;
}

int dds_sampler_class_balanced(int64_t seed, const int32_t *labels, size_t count, const double *weights,
                               size_t weight_count, int64_t block_rows, int64_t draws, int replacement,
                               struct dds_sampler **sampler, struct dds_error *error) {
  int code = dds_check_value_count(count, "labels", error);
  if (code != DDS_OK) {
    return code;
  }
  size_t classes = 0;
  for (size_t row = 0; row < count; row++) {
    if (labels[row] < 0 || labels[row] > MAX_LABEL) {
      return dds_fail(error, DDS_INVALID_ARGUMENT, "label %" PRId32 " of row %s outside [0, %d]", labels[row],
                      GROUPED((int64_t)row), MAX_LABEL);
    }
    classes = (size_t)labels[row] >= classes ? (size_t)labels[row] + 1 : classes;
  }
  if (block_rows < 1 || block_rows > INT32_MAX) {
    return dds_fail(error, DDS_INVALID_ARGUMENT, "block_rows %s must be at least 1, and at most %s",
                    GROUPED(block_rows), GROUPED(INT32_MAX));
  }
  if (replacement && draws < 0) {
    return dds_fail(error, DDS_INVALID_ARGUMENT, "%s samples must be at least 0", GROUPED(draws));
  }
  struct balance like = {
      .seed = (uint64_t)seed, .block_rows = block_rows, .draws = replacement ? draws : -1, .classes = classes};
  return make(&like, labels, count, weights, weight_count, sampler, error);
}
