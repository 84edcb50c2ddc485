// SPDX-License-Identifier: Apache-2.0
/*
 * Copies records that lie anywhere in memory: fields into one array each, or pieces back to back.
 * Addresses come as integers, as Java has them, and are trusted. Nothing is kept between calls. After
 * the return, whoever is handed the target sees what was written.
 */
#ifndef DDS_GATHER_H
#define DDS_GATHER_H

#include <stddef.h>
#include <stdint.h>

/* A fixed field, laid out as in GatherKernel.java. */
struct dds_field {
  int64_t offset; /* in a record */
  int64_t bytes;
  int64_t target; /* address of what gets the field of the first record */
};
_Static_assert(sizeof(struct dds_field) == 3 * sizeof(int64_t), "GatherKernel.FIELD_LONGS");

/* A ragged field, laid out as in GatherKernel.java. */
struct dds_ragged {
  int64_t row_bytes; /* of one of the rows whose number a record tells */
  int64_t offsets;   /* address of int64 row offsets; 0: the field is passed over */
  int64_t values;    /* address */
};
_Static_assert(sizeof(struct dds_ragged) == 3 * sizeof(int64_t), "GatherKernel.RAGGED_LONGS");

/* Number of records beyond those to be copied that are worth knowing: they are prefetched. */
#define DDS_AHEAD 16

/*
 * The records of one call, or of a part of one.
 *
 * address   of each
 * count     how many are to be copied
 * known     how many addresses there are: count, and up to DDS_AHEAD that follow
 * first     the number in the batch of the first one: its place in the targets
 * batch     how many records the whole batch has
 */
struct dds_records {
  const int64_t *address;
  size_t count;
  size_t known;
  size_t first;
  size_t batch;
};

/* Field f of the record that is number i of the batch goes to its target + i * its bytes. */
void dds_scatter(const struct dds_records *records, const struct dds_field *fields, size_t field_count);

/* Pieces of memory, back to back. Returns the end. */
uint8_t *dds_pack(const int64_t *pieces, const int32_t *bytes, size_t count, uint8_t *target);

/*
 * Continues the row offsets of ragged fields by those of some records. totals has the last offset of each
 * field, before and after. Returns -1, or the number in the batch of the first record whose lengths
 * contradict its bytes; then what was written means nothing.
 */
int64_t dds_measure_ragged(const struct dds_records *records, const int32_t *record_bytes, size_t first_length,
                           const struct dds_ragged *fields, size_t field_count, int64_t *totals);

/* Copies the values of records that were measured. */
void dds_copy_ragged(const struct dds_records *records, size_t first_length, const struct dds_ragged *fields,
                     size_t field_count);

#endif
