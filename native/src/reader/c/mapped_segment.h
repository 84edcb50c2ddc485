// SPDX-License-Identifier: Apache-2.0
/* A segment of a process of this host, mapped: docs/segment-format.md. */
#ifndef DDS_MAPPED_SEGMENT_H
#define DDS_MAPPED_SEGMENT_H

#include "handle.h"

/*
 * A mapping, NULL in all pointers if there is none.
 *
 * version  word of the sequence lock
 * gone     word that is not 0 once the rows are freed
 * rows     the first record
 * bytes    size of all records
 * offsets  of ragged records: where each begins behind the first, and the end; else NULL
 */
struct dds_mapped_segment {
  void *data;
  size_t data_bytes;
  void *index;
  size_t index_bytes;
  const uint64_t *version;
  const uint64_t *gone;
  const uint8_t *rows;
  int64_t bytes;
  const uint64_t *offsets;
};

/*
 * Maps a segment of a handle, if its file is accessible and has the rows that the handle says; else *why is the
 * reason, of at most why_bytes.
 */
void dds_segment_map(const struct dds_handle *handle, const struct dds_segment_info *info,
                     struct dds_mapped_segment *segment, char *why, size_t why_bytes);

/* Removes a mapping; no effect without one. */
void dds_segment_unmap(struct dds_mapped_segment *segment);

/* The boot id of this host, as segments have it; 0 if it is unknown. */
uint64_t dds_boot_id(void);

#endif
