// SPDX-License-Identifier: Apache-2.0
/* Samplers: each gives an order for each epoch. */
#ifndef DDS_SAMPLER_H
#define DDS_SAMPLER_H

#include <stdbool.h>

#include "ddstore_reader.h"
#include "order.h"

/*
 * What a kind of sampler does. Functions that are NULL have the effect stated.
 *
 * describe     writes the text that Java's describe() returns
 * positions    sets the number of positions of an epoch over a number of samples; NULL: one for each sample
 * check_batch  rejects a number of consecutive positions that are read together; NULL: accepts all
 * order        makes the order of an epoch, which borrows the sampler
 * for_samples  makes a sampler whose sample i is sample row(i) of this one; NULL: the sampler itself serves
 */
struct dds_sampler_type {
  void (*describe)(const struct dds_sampler *sampler, char text[DDS_MAX_DESCRIPTION]);
  int (*positions)(const struct dds_sampler *sampler, int64_t samples, int64_t *positions, struct dds_error *error);
  int (*check_batch)(const struct dds_sampler *sampler, int64_t samples, struct dds_error *error);
  int (*order)(const struct dds_sampler *sampler, const struct dds_turn *turn, struct dds_order **order,
               struct dds_error *error);
  int (*for_samples)(const struct dds_sampler *sampler, const struct dds_subset *samples, struct dds_sampler **inner,
                     struct dds_error *error);
  void (*free)(struct dds_sampler *sampler);
};

/* The first member of the structs of all samplers. */
struct dds_sampler {
  const struct dds_sampler_type *type;
};

/* Returns the rows that the samples are, in ascending order; NULL: all rows. */
const struct dds_subset *dds_sampler_subset(const struct dds_sampler *sampler);

int dds_sampler_positions(const struct dds_sampler *sampler, int64_t samples, int64_t *positions,
                          struct dds_error *error);

/* Sets an error for missing memory; returns its code. */
int dds_no_memory_for_sampler(size_t rows, struct dds_error *error);

/* Rejects more values than Java can have. */
int dds_check_value_count(size_t count, const char *what, struct dds_error *error);

/* Rejects a number of samples that differs from the number of values given to a sampler. */
int dds_check_samples(int64_t samples, size_t values, const char *what, struct dds_error *error);

/* Rejects weights that are negative, not finite, or all zero. */
int dds_check_weights(const double *weights, size_t count, struct dds_error *error);

/* Returns a fingerprint of the bits of numbers: that of Fingerprint in Java. */
uint64_t dds_fingerprint_of_weights(const double *weights, size_t count);

#endif
