// SPDX-License-Identifier: Apache-2.0
/* The state of a reader, shared by the files that open it and that read by it. */
#ifndef DDS_READER_STATE_H
#define DDS_READER_STATE_H

#include "ddstore_reader.h"
#include "gather.h"
#include "handle.h"
#include "mapped_segment.h"
#include "remote_rows.h"

/* A field whose values are cast after they were gathered. */
struct dds_cast_job {
  const struct dds_target *target;
  size_t at; /* position of its values in the memory for such */
  size_t values;
};

/*
 * starts         first row of each segment, and the number of rows
 * mapped         mapping of each segment of the copy that is read
 * touched        segments of the batch, each once: touched_count of them; versions: their versions before the copy
 * seen           number of the last batch that has touched a segment
 * addresses      of the records of the batch, sizes: theirs; room: number of records that fit
 * remote         NULL before the first row that is not mapped
 * forks          number of forks when the connections were opened
 * first_length   position of the lengths in a ragged record
 * ragged_of      number of each field among the ragged ones, -1 for fixed fields
 * row_bytes      memory that a row of each field is guessed to need in a batch of Arrow; 0 if it is not known
 * path           of the handle; NULL if it was given as text
 */
struct dds_reader {
  char *path;
  int flags;
  struct dds_handle *handle;
  struct dds_remote *remote;
  struct dds_remote_row *remote_rows;
  size_t remote_count;
  uint64_t forks;
  int64_t *starts;
  struct dds_mapped_segment *mapped;
  size_t *touched;
  size_t touched_count;
  uint64_t *versions;
  uint64_t *seen;
  uint64_t batch;
  int64_t *addresses;
  int32_t *sizes;
  size_t room;
  int gone; /* whether the store was dropped */
  struct dds_reach reach;
  size_t ragged_count;
  int64_t first_length;
  struct dds_field *fixed;
  struct dds_ragged *ragged;
  int64_t *totals;
  int *ragged_of;
  int64_t *offset_of;
  size_t *row_bytes;
  struct dds_cast_job *casts;
  size_t cast_count;
  uint8_t *cast_memory;
  size_t cast_room;
};

/* Leaves the connections to the process that has forked this one. */
void dds_reader_forget_connections(struct dds_reader *reader);

#endif
