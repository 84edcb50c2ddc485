// SPDX-License-Identifier: Apache-2.0
/* The service of many sockets by one thread: it answers requests for rows, each after its size as a big-endian int32.
 */
#ifndef DDS_ROW_SERVER_H
#define DDS_ROW_SERVER_H

#include <stddef.h>
#include <stdint.h>

#include "served_rows.h"

struct dds_row_server;
struct dds_row_channel;

/* Why a channel has to be closed, as in RowServer.java. */
enum dds_row_event_kind {
  DDS_ROWS_NONE,      /* none has */
  DDS_ROWS_ENDED,     /* its peer has ended, or a segment of a reply that was begun has been removed */
  DDS_ROWS_SIZE,      /* a request of event.length bytes */
  DDS_ROWS_TRUNCATED, /* as for dds_reply */
  DDS_ROWS_ILLEGAL,
  DDS_ROWS_DAMAGED,
  DDS_ROWS_NO_MEMORY
};

/*
 * channel   the channel, unless kind is DDS_ROWS_NONE
 * length    illegal size of a request
 * selector  whether the selector of Java has a channel that is ready, or was woken
 * short_waits  number of short waits that a request ended
 */
struct dds_row_event {
  enum dds_row_event_kind kind;
  struct dds_row_channel *channel;
  int64_t length;
  int selector;
  int short_waits;
};

/*
 * Opens a server. Returns 0 or -errno.
 *
 * selector  epoll descriptor of Java, which it closes after the server
 * input     memory for the requests that one channel sends at once; a request with its size fits
 * packed    memory for replies, see dds_reply
 */
int dds_row_server_open(int selector, uint8_t *input, size_t input_bytes, uint8_t *packed, size_t packed_bytes,
                        struct dds_row_server **server);

/* Closes the server and removes its channels, whose sockets stay open. */
void dds_row_server_close(struct dds_row_server *server);

/*
 * Serves a socket. The channel has a reference to the rows. Returns NULL and sets errno on failure.
 *
 * counts  as for dds_reply, valid until the channel is removed; may be NULL
 */
struct dds_row_channel *dds_row_server_add(struct dds_row_server *server, int socket, struct dds_served_rows *rows,
                                           int64_t *counts);

/* Ends the service of a socket, before it is closed. */
void dds_row_server_remove(struct dds_row_server *server, struct dds_row_channel *channel);

/*
 * Waits for requests and answers them, until a channel has to be closed, nothing arrives in time or only
 * a part of a request does, or it has waited 64 times. Returns the number of answered requests, or
 * -errno. Requests of a channel are not read while a reply to it is being sent.
 *
 * timeout_ms  longest duration of all waits; 0: one look, negative: unlimited
 * most_waits  number of short waits after which it returns, too
 * short_ns    longest duration of a short wait
 */
int dds_row_server_serve(struct dds_row_server *server, int timeout_ms, int most_waits, int64_t short_ns,
                         struct dds_row_event *event);

#endif
