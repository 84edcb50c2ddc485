// SPDX-License-Identifier: Apache-2.0
/*
 * The receipt of replies on many sockets by one thread. A reply is received into parts of memory, in
 * their order.
 */
#ifndef DDS_REPLY_RECEIVER_H
#define DDS_REPLY_RECEIVER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define DDS_REPLY_PARTS 3

struct dds_reply_receiver;
struct dds_reply_channel;

/* The kind of an arrival on a channel, as in ReplyReceiver.java. */
enum dds_arrival_kind {
  DDS_ARRIVED_PART,   /* a part of the reply */
  DDS_ARRIVED_WHOLE,  /* the whole reply */
  DDS_ARRIVED_STATUS, /* the beginning of a reply whose status is not 0 */
  DDS_ARRIVED_END     /* nothing more: the peer has ended, or there is an error */
};

/*
 * number  number of the channel
 * kind    a dds_arrival_kind
 * bytes   number of bytes of the reply that have been received, all together
 * error   errno of the socket, whose error is gone afterwards; EPROTO after bytes that were not
 *         expected; 0: the peer has ended
 */
struct dds_arrival {
  int64_t number;
  int64_t kind;
  int64_t bytes;
  int64_t error;
};

/*
 * selector     whether the selector of Java has a channel that is ready, or was woken
 * short_waits  number of short waits that a channel ended
 */
struct dds_receipt {
  int selector;
  int short_waits;
};

/* Opens a receiver. Returns 0 or -errno. Java closes its epoll descriptor, selector, after the receiver; -1: none. */
int dds_reply_receiver_open(int selector, struct dds_reply_receiver **receiver);

/* Closes the receiver and removes its channels, whose sockets stay open. */
void dds_reply_receiver_close(struct dds_reply_receiver *receiver);

/* Adds a socket that does not block. Returns NULL and sets errno on failure. */
struct dds_reply_channel *dds_reply_receiver_add(struct dds_reply_receiver *receiver, int socket, int64_t number);

/* Removes a socket before it is closed; nothing is written to the parts of its reply any more. */
void dds_reply_receiver_remove(struct dds_reply_receiver *receiver, struct dds_reply_channel *channel);

/* Sends bytes. Returns the number of bytes that the socket takes now, or -errno. */
ssize_t dds_reply_receiver_send(const struct dds_reply_channel *channel, const uint8_t *bytes, size_t count);

/*
 * Expects a reply on a channel that expects none.
 *
 * parts  memory for it, DDS_REPLY_PARTS parts. If the first one is not empty, its first byte is the
 *        status. What follows a status that is not 0 fills the parts, too; its rest may then be expected
 * more   whether Java has to do something when the reply is whole, such as expect another one
 */
void dds_reply_receiver_expect(struct dds_reply_receiver *receiver, struct dds_reply_channel *channel,
                               const struct iovec *parts, int more);

/*
 * Waits once, and again until all expected replies are whole, Java has to do something, or the time is
 * over. Returns the number of arrivals, at most one for each channel, or -errno. A channel expects
 * nothing after an arrival, unless a part arrived. The end is reported again until the channel is removed.
 *
 * timeout_ms  longest duration of all waits; 0: one look, negative: unlimited
 * most_waits  number of short waits after which it returns, too
 * short_ns    longest duration of a short wait
 * most        room for arrivals; others are reported by the next call
 */
int dds_reply_receiver_receive(struct dds_reply_receiver *receiver, int timeout_ms, int most_waits, int64_t short_ns,
                               struct dds_arrival *arrivals, size_t most, struct dds_receipt *receipt);

#endif
