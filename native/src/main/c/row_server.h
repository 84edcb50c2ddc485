// SPDX-License-Identifier: Apache-2.0
/*
 * The service of many sockets by one thread: it answers requests for rows as far as dds_reply does,
 * and leaves the others to Java. Each request follows its size as a big-endian int32.
 */
#ifndef DDS_ROW_SERVER_H
#define DDS_ROW_SERVER_H

#include <stddef.h>
#include <stdint.h>

#include "served_rows.h"

struct dds_row_server;
struct dds_row_channel;

/* The action that Java must take, as in RowServer.java. */
enum dds_row_event_kind {
  DDS_ROWS_NONE,
  DDS_ROWS_REQUEST, /* answer a request, from its byte event.sent.bytes on */
  DDS_ROWS_ILLEGAL, /* refuse a request of event.length bytes */
  DDS_ROWS_ENDED    /* close the channel, whose peer has ended */
};

/*
 * channel   the channel, unless kind is DDS_ROWS_NONE
 * length    size of the request, which is at the start of the input
 * sent      bytes of the reply that were sent
 * version   version of the segment at that time, if bytes were sent
 * selector  whether the selector of Java has a channel that is ready, or was woken
 * short_waits  number of short waits that a request ended
 */
struct dds_row_event {
  enum dds_row_event_kind kind;
  struct dds_row_channel *channel;
  int64_t length;
  int64_t sent;
  int64_t version;
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

/* Serves a socket. The channel has a reference to the rows. Returns NULL and sets errno on failure. */
struct dds_row_channel *dds_row_server_add(struct dds_row_server *server, int socket, struct dds_served_rows *rows);

/* Ends the service of a socket, before it is closed. */
void dds_row_server_remove(struct dds_row_server *server, struct dds_row_channel *channel);

/* Stops to receive requests, while Java sends a reply, and receives them again. Return 0 or -errno. */
int dds_row_server_pause(struct dds_row_server *server, struct dds_row_channel *channel);
int dds_row_server_resume(struct dds_row_server *server, struct dds_row_channel *channel);

/*
 * Waits for requests and answers them, until Java has to do something, nothing arrives in time or only
 * a part of a request does, or it has waited 64 times. Returns the number of answered requests, or
 * -errno. A channel whose requests Java has to answer has its next turn after the others.
 *
 * timeout_ms  longest duration of all waits; 0: one look, negative: unlimited
 * most_waits  number of short waits after which it returns, too
 * short_ns    longest duration of a short wait
 */
int dds_row_server_serve(struct dds_row_server *server, int timeout_ms, int most_waits, int64_t short_ns,
                         struct dds_row_event *event);

#endif
