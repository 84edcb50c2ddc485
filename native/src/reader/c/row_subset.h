// SPDX-License-Identifier: Apache-2.0
/* Sets of rows, of which samplers are restricted: RowSubset in Java. */
#ifndef DDS_ROW_SUBSET_H
#define DDS_ROW_SUBSET_H

#include "ddstore_reader.h"

#define DDS_SUBSET_WORDS 48

/* Returns the rows that belong to both subsets; NULL without memory. */
struct dds_subset *dds_subset_and(const struct dds_subset *subset, const struct dds_subset *other);

/* Returns an independent copy; NULL without memory. */
struct dds_subset *dds_subset_copy(const struct dds_subset *subset);

/* Returns the row after the last. */
int64_t dds_subset_end(const struct dds_subset *subset);

/* Returns the row at a position in [0, size), not checked. */
int64_t dds_subset_row(const struct dds_subset *subset, int64_t position);

/* Writes the words for the description of a sampler: equal for equal subsets only. Reads the whole subset. */
void dds_subset_describe(const struct dds_subset *subset, char words[DDS_SUBSET_WORDS]);

/* Rejects a store that has fewer rows than the subset. */
int dds_subset_check_within(const struct dds_subset *subset, int64_t stored, struct dds_error *error);

/* Rejects values, such as weights, of which there are fewer than rows. */
int dds_subset_check_values(const struct dds_subset *subset, size_t values, const char *what, struct dds_error *error);

#endif
