// SPDX-License-Identifier: Apache-2.0
/*
 * Copies of records at arbitrary addresses: each field into its own array, or pieces back to back.
 * Addresses are integers, as Java passes them, and are not checked. No state is kept between calls.
 * After a function returns, every thread that receives the target sees the written bytes.
 */
#ifndef DDS_GATHER_H
#define DDS_GATHER_H

#include <stddef.h>
#include <stdint.h>

/* A fixed field, laid out as in GatherKernel.java. */
struct dds_field {
  int64_t offset; /* in a record, in bytes */
  int64_t bytes;
  int64_t target; /* address that the field of the first record is copied to */
};
_Static_assert(sizeof(struct dds_field) == 3 * sizeof(int64_t), "GatherKernel.FIELD_LONGS");

/* A ragged field, laid out as in GatherKernel.java. */
struct dds_ragged {
  int64_t row_bytes; /* bytes of one row of the field; a record stores its number of rows */
  int64_t offsets;   /* address of int64 row offsets; 0: the field is skipped */
  int64_t values;    /* address of the values */
};
_Static_assert(sizeof(struct dds_ragged) == 3 * sizeof(int64_t), "GatherKernel.RAGGED_LONGS");

/* Maximum number of records after those of a call that are prefetched. */
#define DDS_AHEAD 16

/*
 * The records of one call, or of a part of one.
 *
 * address   addresses of the records
 * count     number of records to copy
 * known     number of addresses: count, plus up to DDS_AHEAD that follow
 * first     index in the batch of the first record, which is also its index in the targets
 * batch     number of records of the whole batch
 */
struct dds_records {
  const int64_t *address;
  size_t count;
  size_t known;
  size_t first;
  size_t batch;
};

/* Copies field f of record i of the batch to the field's target + i * the field's bytes. */
void dds_scatter(const struct dds_records *records, const struct dds_field *fields, size_t field_count);

/* Copies pieces of memory back to back. Returns the end of the target. */
uint8_t *dds_pack(const int64_t *pieces, const int32_t *bytes, size_t count, uint8_t *target);

/*
 * Appends the row offsets of some records to those of the ragged fields. totals holds the last
 * offset of each field, before and after the call. Returns -1, or the index in the batch of the
 * first record whose lengths contradict its bytes; the written offsets are then undefined.
 */
int64_t dds_measure_ragged(const struct dds_records *records, const int32_t *record_bytes, size_t first_length,
                           const struct dds_ragged *fields, size_t field_count, int64_t *totals);

/* Copies the values of records that dds_measure_ragged has measured. */
void dds_copy_ragged(const struct dds_records *records, size_t first_length, const struct dds_ragged *fields,
                     size_t field_count);

#endif
