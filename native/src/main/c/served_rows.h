// SPDX-License-Identifier: Apache-2.0
/*
 * The segments of a store whose rows this process serves, found by their nonces. Any thread may call
 * these functions.
 */
#ifndef DDS_SERVED_ROWS_H
#define DDS_SERVED_ROWS_H

#include <stddef.h>
#include <stdint.h>

#define DDS_NONCE_BYTES 16

struct dds_served_rows;

/*
 * A segment. All fields but the last two are constant, and no array is NULL unless it is said.
 *
 * version        little-endian word of Segment.version() in Segment.java
 * record_bytes   size of a fixed record; 0: the records are ragged
 * row_shift      log2 of the rows of a chunk of fixed records
 * chunks         addresses of the chunks
 * chunk_starts   ragged records only, else NULL: offset of each chunk in the stream of all records,
 *                and the offset of the end
 * entries        ragged records only, else NULL: addresses of the little-endian offsets of the records
 *                in that stream, and of its end, in parts of 2^entry_shift offsets
 */
struct dds_served_segment {
  uint8_t nonce[DDS_NONCE_BYTES];
  const uint64_t *version;
  int64_t rows;
  int64_t record_bytes;
  int row_shift;
  int entry_shift;
  size_t chunk_count;
  size_t entry_count;
  int64_t *chunks;
  int64_t *chunk_starts;
  int64_t *entries;
  size_t users;                    /* of dds_rows_find */
  struct dds_served_segment *next; /* in its bucket */
};

/* Returns an empty set with one reference; NULL if there is no memory. */
struct dds_served_rows *dds_rows_open(void);

void dds_rows_retain(struct dds_served_rows *rows);

/* Releases a reference; the last one frees the set and its descriptions of segments. */
void dds_rows_release(struct dds_served_rows *rows);

/*
 * Adds a segment, whose memory stays valid until dds_rows_remove has returned. Copies the
 * description and its arrays; its users and next are ignored. Returns 0 or -errno.
 */
int dds_rows_add(struct dds_served_rows *rows, const struct dds_served_segment *segment);

/* Removes a segment, if it is in the set. Waits until no thread uses it. */
void dds_rows_remove(struct dds_served_rows *rows, const uint8_t *nonce);

/* Returns a segment to use until dds_rows_end_use, which must follow soon; NULL if there is none. */
struct dds_served_segment *dds_rows_find(struct dds_served_rows *rows, const uint8_t *nonce);

void dds_rows_end_use(struct dds_served_rows *rows, struct dds_served_segment *segment);

/* Adds to the number of requests that were answered; returns it. */
void dds_rows_count(struct dds_served_rows *rows, int64_t more);
int64_t dds_rows_counted(struct dds_served_rows *rows);

#endif
