// SPDX-License-Identifier: Apache-2.0
/*
 * A table that draws numbers in proportion to weights in constant time: the alias method of Walker (1977), built as
 * by Vose (1991), with the arithmetic of AliasTable in Java.
 */
#ifndef DDS_ALIAS_TABLE_H
#define DDS_ALIAS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dds_alias_table {
  size_t count;
  double *keep;
  int32_t *alias;
};

/* Builds a table of weights that dds_check_weights accepts. Returns false without memory. */
bool dds_alias_table_build(struct dds_alias_table *table, const double *weights, size_t count);

/* Frees the memory of a table that is built, or all zero. */
void dds_alias_table_free(struct dds_alias_table *table);

/* Returns the number that two random words draw. */
int32_t dds_alias_table_draw(const struct dds_alias_table *table, uint64_t place, uint64_t choice);

#endif
