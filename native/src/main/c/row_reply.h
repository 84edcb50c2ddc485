// SPDX-License-Identifier: Apache-2.0
/* The reply to a request for rows, in the format of GatherRequest.java and GatherReply.java. */
#ifndef DDS_ROW_REPLY_H
#define DDS_ROW_REPLY_H

#include <stddef.h>
#include <stdint.h>

#include "served_rows.h"

/* Results of dds_reply. The channel of the last five is to be closed. */
enum dds_reply_result {
  DDS_REPLIED,   /* the whole reply was sent */
  DDS_SENT_PART, /* the socket takes no more at present */
  DDS_BROKEN,    /* the peer has ended, or a segment of a reply that was begun has been removed */
  DDS_TRUNCATED, /* the request is too short */
  DDS_ILLEGAL,   /* a number of the request is outside of its legal range */
  DDS_DAMAGED,   /* the offsets of ragged records lead out of their segment */
  DDS_NO_MEMORY
};

/*
 * What was sent of a reply. All zero before the first call of dds_reply.
 *
 * begun     whether there was a first call
 * bytes     number of bytes sent
 * versions  versions of the segments of the request when their rows were first read, or NULL
 */
struct dds_sending {
  int begun;
  int64_t bytes;
  uint64_t *versions;
};

/* Counters of the replies to some peers, which any thread may read and add to atomically. */
enum dds_reply_count { DDS_COUNT_REQUESTS, DDS_COUNT_ROWS, DDS_COUNT_BYTES, DDS_COUNTS };

/*
 * Sends a reply, or the rest of one, as far as the socket takes it. A slow peer holds no memory but its
 * request: what was not sent is produced again by the next call. Does not block. dds_reply_end follows
 * the last call.
 *
 * socket   socket that does not block
 * request  the same bytes in each call, without its size and store
 * packed   memory for parts of the reply; at least DDS_LEAST_PACKED bytes
 * counts   DDS_COUNTS counters to which the first call adds the request, the records that begin in the
 *          reply, and their bytes in it; NULL: nothing is counted
 */
enum dds_reply_result dds_reply(struct dds_served_rows *rows, int socket, const uint8_t *request, size_t request_bytes,
                                uint8_t *packed, size_t packed_bytes, struct dds_sending *sending, int64_t *counts);

/* Frees what a reply holds, and makes it zero. */
void dds_reply_end(struct dds_sending *sending);

/* The largest part before or after the records: the versions of 16,384 segments. */
#define DDS_LEAST_PACKED (132 << 10)

#endif
