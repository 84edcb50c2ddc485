// SPDX-License-Identifier: Apache-2.0
/* The reply to a request for rows, in the format of GatherRequest.java and GatherReply.java. */
#ifndef DDS_ROW_REPLY_H
#define DDS_ROW_REPLY_H

#include <stddef.h>
#include <stdint.h>

#include "served_rows.h"

/* Results of dds_reply. */
enum dds_reply_result {
  DDS_REPLIED,   /* the whole reply was sent */
  DDS_NOT_HERE,  /* nothing was sent: Java answers this request, or refuses it */
  DDS_SENT_PART, /* the socket takes no more at present: Java continues */
  DDS_BROKEN     /* the peer has ended */
};

/*
 * The sent part of a reply.
 *
 * bytes    number of bytes
 * version  version of the segment before its first row was copied
 */
struct dds_sent {
  int64_t bytes;
  int64_t version;
};

/*
 * Answers a request, without its size and store, for whole fixed records of one segment that are
 * small enough to be packed. Does not block.
 *
 * socket  socket that does not block
 * packed  memory for the reply, or parts of it; at least DDS_LEAST_PACKED bytes
 */
enum dds_reply_result dds_reply(struct dds_served_rows *rows, int socket, const uint8_t *request, size_t request_bytes,
                                uint8_t *packed, size_t packed_bytes, struct dds_sent *sent);

/* Head and tail of a reply, and a record. */
#define DDS_LEAST_PACKED (32 << 10)

#endif
