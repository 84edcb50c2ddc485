// SPDX-License-Identifier: Apache-2.0
#include "alias_table.h"

#include <stdlib.h>

#include "keyed_hash.h"

/* Settles the numbers without a partner by rounding: full, or too light to be drawn. */
static void settle(struct dds_alias_table *table, const int32_t *waiting, size_t below, size_t above,
                   const double *weights) {
  for (size_t i = 0; i < below; i++) {
    if (weights[waiting[i]] > 0) {
      table->keep[waiting[i]] = 1;
    }
  }
  for (size_t i = above; i < table->count; i++) {
    table->keep[waiting[i]] = 1;
  }
}

bool dds_alias_table_build(struct dds_alias_table *table, const double *weights, size_t count) {
  table->count = count;
  table->keep = malloc(count * sizeof *table->keep);
  table->alias = malloc(count * sizeof *table->alias);
  int32_t *waiting = malloc(count * sizeof *waiting); /* below the mean from the left, the others from the right */
  if (table->keep == NULL || table->alias == NULL || waiting == NULL) {
    free(waiting);
    dds_alias_table_free(table);
    return false;
  }
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    sum += weights[i];
  }
  size_t below = 0;
  size_t above = count;
  for (size_t i = 0; i < count; i++) {
    table->keep[i] = weights[i] / sum * (double)count;
    table->alias[i] = (int32_t)i;
    if (table->keep[i] < 1) {
      waiting[below++] = (int32_t)i;
    } else {
      waiting[--above] = (int32_t)i;
    }
  }
  while (below > 0 && above < count) {
    int32_t small = waiting[--below];
    int32_t large = waiting[above];
    table->alias[small] = large;
    table->keep[large] -= 1 - table->keep[small];
    if (table->keep[large] < 1) {
      above++;
      waiting[below++] = large;
    }
  }
  settle(table, waiting, below, above, weights);
  free(waiting);
  return true;
}

void dds_alias_table_free(struct dds_alias_table *table) {
  free(table->keep);
  free(table->alias);
  *table = (struct dds_alias_table){0};
}

int32_t dds_alias_table_draw(const struct dds_alias_table *table, uint64_t place, uint64_t choice) {
  size_t i = (size_t)dds_below(place, table->count);
  return dds_open_unit(choice) < table->keep[i] ? (int32_t)i : table->alias[i];
}
