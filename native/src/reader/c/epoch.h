// SPDX-License-Identifier: Apache-2.0
/* The batches of one rank in one epoch. */
#ifndef DDS_EPOCH_H
#define DDS_EPOCH_H

#include "ddstore_reader.h"

/* Returns the number of the epoch. */
int64_t dds_epoch_number(const struct dds_epoch *epoch);

/* Returns the first of this rank's part of size elements, and of the next rank's part. */
int64_t dds_epoch_part_first(const struct dds_epoch *epoch, int64_t size);
int64_t dds_epoch_part_end(const struct dds_epoch *epoch, int64_t size);

/* Returns the number of samples that no rank reads. */
int64_t dds_epoch_dropped(const struct dds_epoch *epoch);

/* Writes some of the samples that no rank reads. */
void dds_epoch_fill_dropped(struct dds_epoch *epoch, int64_t first, int64_t *samples, size_t count);

#endif
