// SPDX-License-Identifier: Apache-2.0
/*
 * Rows drawn in proportion to weights. Without replacement, rows are drawn one after the other: row i gets the key
 * -ln(u) / weight with u drawn from (0, 1), and the smallest keys come first (Efraimidis and Spirakis, 2006).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alias_table.h"
#include "grouped.h"
#include "handle.h"
#include "keyed_hash.h"
#include "row_subset.h"
#include "sampler.h"
#include "strict_log.h"

/* table: empty without replacement */
struct weighted {
  struct dds_sampler sampler;
  uint64_t seed;
  int64_t draws;
  bool replacing;
  size_t count;
  double *weights;
  uint64_t fingerprint;
  struct dds_alias_table table;
};

static void free_weighted(struct dds_sampler *sampler) {
  struct weighted *weighted = (struct weighted *)sampler;
  dds_alias_table_free(&weighted->table);
  free(weighted->weights);
  free(weighted);
}

static void describe(const struct dds_sampler *sampler, char text[DDS_MAX_DESCRIPTION]) {
  const struct weighted *weighted = (const struct weighted *)sampler;
  snprintf(text, DDS_MAX_DESCRIPTION, "%s(%" PRId64 ", %" PRId64 " of %016" PRIx64 ")",
           weighted->replacing ? "weighted" : "weightedOnce", (int64_t)weighted->seed, weighted->draws,
           weighted->fingerprint);
}

static int positions(const struct dds_sampler *sampler, int64_t samples, int64_t *positions, struct dds_error *error) {
  (void)samples;
  (void)error;
  *positions = ((const struct weighted *)sampler)->draws;
  return DDS_OK;
}

struct draws {
  struct dds_order order;
  const struct dds_alias_table *table;
  uint64_t place_key;
  uint64_t choice_key;
};

static void replace_drawn(struct dds_order *order, int64_t *places, size_t count) {
  const struct draws *draws = (const struct draws *)order;
  for (size_t i = 0; i < count; i++) {
    uint64_t position = (uint64_t)places[i];
    places[i] =
        dds_alias_table_draw(draws->table, dds_word(draws->place_key, position), dds_word(draws->choice_key, position));
  }
}

static void free_draws(struct dds_order *order) {
  free(order);
}

struct ranking {
  struct dds_order order;
  int32_t rows[];
};

static void replace_ranked(struct dds_order *order, int64_t *places, size_t count) {
  const struct ranking *ranking = (const struct ranking *)order;
  for (size_t i = 0; i < count; i++) {
    places[i] = ranking->rows[places[i]];
  }
}

struct arrival {
  double time;
  int32_t row;
};

static int by_time_and_row(const void *left, const void *right) {
  const struct arrival *a = left;
  const struct arrival *b = right;
  if (a->time != b->time) {
    return a->time < b->time ? -1 : 1;
  }
  return a->row < b->row ? -1 : a->row > b->row;
}

/* Makes the order of the draws smallest arrivals; rows of weight 0 have none. */
static struct dds_order *ranked(const struct weighted *weighted, uint64_t key) {
  struct ranking *ranking = malloc(sizeof *ranking + (size_t)weighted->draws * sizeof ranking->rows[0]);
  struct arrival *arrivals = malloc(weighted->count * sizeof *arrivals);
  if (ranking == NULL || arrivals == NULL) {
    free(ranking);
    free(arrivals);
    return NULL;
  }
  size_t arrived = 0;
  for (size_t row = 0; row < weighted->count; row++) {
    if (weighted->weights[row] > 0) {
      double time = -dds_strict_log(dds_open_unit(dds_word(key, row))) / weighted->weights[row];
      arrivals[arrived++] = (struct arrival){.time = time, .row = (int32_t)row};
    }
  }
  qsort(arrivals, arrived, sizeof *arrivals, by_time_and_row);
  for (int64_t i = 0; i < weighted->draws; i++) {
    ranking->rows[i] = arrivals[i].row;
  }
  free(arrivals);
  ranking->order = (struct dds_order){.size = weighted->draws, .replace = replace_ranked, .free = free_draws};
  return &ranking->order;
}

static int order(const struct dds_sampler *sampler, const struct dds_turn *turn, struct dds_order **order,
                 struct dds_error *error) {
  const struct weighted *weighted = (const struct weighted *)sampler;
  int code = dds_check_samples(turn->samples, weighted->count, "weights", error);
  if (code != DDS_OK) {
    return code;
  }
  uint64_t key = dds_key_add(dds_key_add(dds_key(weighted->seed), (uint64_t)turn->number), (uint64_t)turn->part);
  if (!weighted->replacing) {
    *order = ranked(weighted, key);
    return *order != NULL ? DDS_OK : dds_no_memory_for_order(turn->samples, error);
  }
  struct draws *draws = malloc(sizeof *draws);
  if (draws == NULL) {
    return dds_no_memory_for_order(turn->samples, error);
  }
  *draws = (struct draws){.order = {.size = weighted->draws, .replace = replace_drawn, .free = free_draws},
                          .table = &weighted->table,
                          .place_key = dds_key_add(dds_key(key), 0),
                          .choice_key = dds_key_add(dds_key(key), 1)};
  *order = &draws->order;
  return DDS_OK;
}

static int for_samples(const struct dds_sampler *sampler, const struct dds_subset *samples, struct dds_sampler **inner,
                       struct dds_error *error) {
  const struct weighted *weighted = (const struct weighted *)sampler;
  int code = dds_subset_check_values(samples, weighted->count, "weights", error);
  if (code != DDS_OK) {
    return code;
  }
  size_t count = (size_t)dds_subset_size(samples);
  double *selected = malloc((count + 1) * sizeof *selected);
  if (selected == NULL) {
    return dds_no_memory_for_sampler(count, error);
  }
  for (size_t i = 0; i < count; i++) {
    selected[i] = weighted->weights[dds_subset_row(samples, (int64_t)i)];
  }
  code = dds_sampler_weighted((int64_t)weighted->seed, selected, count, weighted->draws, weighted->replacing, inner,
                              error);
  free(selected);
  return code;
}

static const struct dds_sampler_type WEIGHTED = {
    .describe = describe, .positions = positions, .order = order, .for_samples = for_samples, .free = free_weighted};

static int check(const double *weights, size_t count, int64_t draws, int replacement, struct dds_error *error) {
  int code = dds_check_value_count(count, "weights", error);
  if (code == DDS_OK && replacement && draws < 0) {
    return dds_fail(error, DDS_INVALID_ARGUMENT, "%s draws must be at least 0", GROUPED(draws));
  }
  if (code == DDS_OK) {
    code = dds_check_weights(weights, count, error);
  }
  if (code != DDS_OK || replacement) {
    return code;
  }
  int64_t possible = 0;
  for (size_t i = 0; i < count; i++) {
    possible += weights[i] > 0;
  }
  if (draws < 0 || draws > possible) {
    return dds_fail(error, DDS_INVALID_ARGUMENT,
                    "%s draws without replacement outside [0, %s], the rows of a weight above 0; more need replacement",
                    GROUPED(draws), GROUPED(possible));
  }
  return DDS_OK;
}

int dds_sampler_weighted(int64_t seed, const double *weights, size_t count, int64_t draws, int replacement,
                         struct dds_sampler **sampler, struct dds_error *error) {
  int code = check(weights, count, draws, replacement, error);
  if (code != DDS_OK) {
    return code;
  }
  struct weighted *weighted = calloc(1, sizeof *weighted);
  double *copy = malloc(count * sizeof *copy);
  if (weighted == NULL || copy == NULL) {
    free(weighted);
    free(copy);
    return dds_no_memory_for_sampler(count, error);
  }
  memcpy(copy, weights, count * sizeof *copy);
  *weighted = (struct weighted){.sampler = {.type = &WEIGHTED},
                                .seed = (uint64_t)seed,
                                .draws = draws,
                                .replacing = replacement != 0,
                                .count = count,
                                .weights = copy,
                                .fingerprint = dds_fingerprint_of_weights(weights, count)};
  if (replacement && !dds_alias_table_build(&weighted->table, copy, count)) {
    free_weighted(&weighted->sampler);
    return dds_no_memory_for_sampler(count, error);
  }
  *sampler = &weighted->sampler;
  return DDS_OK;
}
