// SPDX-License-Identifier: Apache-2.0
/* The order of the samples of one epoch, computed for each position, so that an epoch can begin anywhere. */
#ifndef DDS_ORDER_H
#define DDS_ORDER_H

#include "ddstore_reader.h"

/* Used by one thread at a time; the first member of the structs of all orders. */
struct dds_order {
  int64_t size;
  void (*replace)(struct dds_order *order, int64_t *places, size_t count);
  void (*free)(struct dds_order *order);
};

/*
 * The arguments of an order: Sampler.Epoch in Java.
 *
 * dropped  number of positions at the end that no rank reads
 * part     index of the ordered part, if each rank has a part of its own; otherwise 0
 */
struct dds_turn {
  int64_t samples;
  int64_t number;
  int64_t dropped;
  int part;
};

/* Sets the distance by which a dropped end has moved since epoch 0, in [0, samples). */
int dds_turn_drift(const struct dds_turn *turn, int64_t *drift, struct dds_error *error);

/* Frees an order. NULL: no effect. */
void dds_order_free(struct dds_order *order);

/* Replaces ascending positions in [0, size), not checked, by the samples at them. */
void dds_order_replace(struct dds_order *order, int64_t *places, size_t count);

/* Writes the samples at consecutive positions. */
void dds_order_fill(struct dds_order *order, int64_t first, int64_t *samples, size_t count);

int dds_order_sequential(const struct dds_turn *turn, struct dds_order **order, struct dds_error *error);

int dds_order_shuffled(uint64_t seed, const struct dds_turn *turn, struct dds_order **order, struct dds_error *error);

int dds_order_chunked(uint64_t seed, int64_t block_rows, int64_t window_rows, const struct dds_turn *turn,
                      struct dds_order **order, struct dds_error *error);

/* Sets an error for missing memory; returns its code. */
int dds_no_memory_for_order(int64_t samples, struct dds_error *error);

#endif
