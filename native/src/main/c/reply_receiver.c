// SPDX-License-Identifier: Apache-2.0
#include "reply_receiver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "epoll_set.h"

#define EVENTS 64
#define NS_PER_MS INT64_C(1000000)

/*
 * parts     what is left of the memory for the reply
 * first     number of the first part with room
 * status    place of the status byte, or NULL
 * received  number of bytes of the reply
 * expects   whether a reply is expected
 * more      whether Java has to do something when the reply is whole
 * arrived   whether the channel is in the list of arrivals
 * kind      of the arrival
 * error     errno of the arrival, or 0
 */
struct dds_reply_channel {
  int socket;
  int64_t number;
  struct iovec parts[DDS_REPLY_PARTS];
  int first;
  const uint8_t *status;
  int64_t received;
  int expects;
  int more;
  int arrived;
  enum dds_arrival_kind kind;
  int error;
  struct dds_reply_channel *next_arrived;
  struct dds_reply_channel *previous;
  struct dds_reply_channel *next;
};

struct dds_reply_receiver {
  int epoll;
  int expected; /* number of replies */
  struct dds_reply_channel *channels;
  struct dds_reply_channel *arrived;
};

int dds_reply_receiver_open(int selector, struct dds_reply_receiver **receiver) {
  struct dds_reply_receiver *opened = calloc(1, sizeof *opened);
  if (opened == NULL) {
    return -ENOMEM;
  }
  opened->epoll = dds_epoll_open(selector);
  if (opened->epoll < 0) {
    int result = opened->epoll;
    free(opened);
    return result;
  }
  *receiver = opened;
  return 0;
}

void dds_reply_receiver_close(struct dds_reply_receiver *receiver) {
  if (receiver == NULL) {
    return;
  }
  while (receiver->channels != NULL) {
    struct dds_reply_channel *channel = receiver->channels;
    receiver->channels = channel->next;
    free(channel);
  }
  close(receiver->epoll);
  free(receiver);
}

struct dds_reply_channel *dds_reply_receiver_add(struct dds_reply_receiver *receiver, int socket, int64_t number) {
  struct dds_reply_channel *channel = calloc(1, sizeof *channel);
  if (channel == NULL) {
    return NULL;
  }
  int result = dds_epoll_add(receiver->epoll, socket, channel);
  if (result < 0) {
    free(channel);
    errno = -result;
    return NULL;
  }
  channel->socket = socket;
  channel->number = number;
  channel->next = receiver->channels;
  if (channel->next != NULL) {
    channel->next->previous = channel;
  }
  receiver->channels = channel;
  return channel;
}

static void expect_no_more(struct dds_reply_receiver *receiver, struct dds_reply_channel *channel) {
  receiver->expected -= channel->expects;
  channel->expects = 0;
}

void dds_reply_receiver_remove(struct dds_reply_receiver *receiver, struct dds_reply_channel *channel) {
  epoll_ctl(receiver->epoll, EPOLL_CTL_DEL, channel->socket, NULL);
  expect_no_more(receiver, channel);
  struct dds_reply_channel **at = &receiver->arrived;
  while (channel->arrived && *at != channel) {
    at = &(*at)->next_arrived;
  }
  if (channel->arrived) {
    *at = channel->next_arrived;
  }
  if (channel->previous != NULL) {
    channel->previous->next = channel->next;
  } else {
    receiver->channels = channel->next;
  }
  if (channel->next != NULL) {
    channel->next->previous = channel->previous;
  }
  free(channel);
}

ssize_t dds_reply_receiver_send(const struct dds_reply_channel *channel, const uint8_t *bytes, size_t count) {
  ssize_t sent;
  do {
    sent = send(channel->socket, bytes, count, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) {
    return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -errno;
  }
  return sent;
}

void dds_reply_receiver_expect(struct dds_reply_receiver *receiver, struct dds_reply_channel *channel,
                               const struct iovec *parts, int more) {
  memcpy(channel->parts, parts, sizeof channel->parts);
  channel->first = 0;
  channel->status = parts[0].iov_len > 0 ? parts[0].iov_base : NULL;
  channel->received = 0;
  channel->expects = 1;
  channel->more = more;
  receiver->expected++;
}

/* Removes received bytes from the memory for the reply. Returns whether it is whole. */
static int advance(struct dds_reply_channel *channel, size_t bytes) {
  for (; channel->first < DDS_REPLY_PARTS; channel->first++) {
    struct iovec *part = &channel->parts[channel->first];
    if (bytes < part->iov_len) {
      part->iov_base = (uint8_t *)part->iov_base + bytes;
      part->iov_len -= bytes;
      return 0;
    }
    bytes -= part->iov_len;
  }
  return 1;
}

static size_t room(const struct dds_reply_channel *channel) {
  size_t bytes = 0;
  for (int part = channel->first; part < DDS_REPLY_PARTS; part++) {
    bytes += channel->parts[part].iov_len;
  }
  return bytes;
}

/* Receives what has arrived of the expected reply. Returns whether anything has. */
static int receive_reply(struct dds_reply_channel *channel, enum dds_arrival_kind *kind) {
  *kind = DDS_ARRIVED_PART;
  int64_t before = channel->received;
  while (1) {
    size_t most = room(channel);
    ssize_t got = readv(channel->socket, channel->parts + channel->first, DDS_REPLY_PARTS - channel->first);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      break;
    }
    if (got <= 0) {
      channel->error = got < 0 ? errno : 0;
      *kind = DDS_ARRIVED_END;
      return 1;
    }
    channel->received += got;
    if (channel->status != NULL && *channel->status != 0) {
      *kind = DDS_ARRIVED_STATUS;
      return 1;
    }
    if (advance(channel, (size_t)got)) {
      *kind = DDS_ARRIVED_WHOLE;
      return 1;
    }
    if ((size_t)got < most) {
      break; /* all that has arrived */
    }
  }
  return channel->received > before;
}

/* Looks why a channel that expects nothing is ready. Returns whether it is. */
static int receive_end(struct dds_reply_channel *channel, enum dds_arrival_kind *kind) {
  uint8_t byte;
  ssize_t got = recv(channel->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
    return 0;
  }
  channel->error = got > 0 ? EPROTO : got < 0 ? errno : 0;
  *kind = DDS_ARRIVED_END;
  return 1;
}

/* Returns whether Java has to do something. */
static int receive_from(struct dds_reply_receiver *receiver, struct dds_reply_channel *channel) {
  if (channel->arrived && channel->kind != DDS_ARRIVED_PART) {
    return 1; /* Java has to know of the first arrival before the next one */
  }
  enum dds_arrival_kind kind;
  if (!(channel->expects ? receive_reply(channel, &kind) : receive_end(channel, &kind))) {
    return 0;
  }
  channel->kind = kind;
  if (!channel->arrived) {
    channel->arrived = 1;
    channel->next_arrived = receiver->arrived;
    receiver->arrived = channel;
  }
  if (kind != DDS_ARRIVED_PART) {
    expect_no_more(receiver, channel);
  }
  return kind > DDS_ARRIVED_WHOLE || (kind == DDS_ARRIVED_WHOLE && channel->more);
}

/* Waits for channels and receives from them. Returns their number or -errno. */
static int receive_once(struct dds_reply_receiver *receiver, int timeout_ms, int64_t *waited_ns, int *for_java,
                        struct dds_receipt *receipt) {
  struct epoll_event ready[EVENTS];
  int count = dds_epoll_wait(receiver->epoll, ready, EVENTS, timeout_ms, waited_ns);
  if (count < 0) {
    return count;
  }
  int channels = 0;
  for (int i = 0; i < count; i++) {
    struct dds_reply_channel *channel = ready[i].data.ptr;
    if (channel == NULL) {
      receipt->selector = 1;
      *for_java = 1;
    } else {
      channels++;
      *for_java |= receive_from(receiver, channel);
    }
  }
  return channels;
}

static int take_arrivals(struct dds_reply_receiver *receiver, struct dds_arrival *arrivals, size_t most) {
  size_t count = 0;
  while (receiver->arrived != NULL && count < most) {
    struct dds_reply_channel *channel = receiver->arrived;
    receiver->arrived = channel->next_arrived;
    channel->arrived = 0;
    arrivals[count++] = (struct dds_arrival){
        .number = channel->number, .kind = channel->kind, .bytes = channel->received, .error = channel->error};
  }
  return (int)count;
}

int dds_reply_receiver_receive(struct dds_reply_receiver *receiver, int timeout_ms, int most_waits, int64_t short_ns,
                               struct dds_arrival *arrivals, size_t most, struct dds_receipt *receipt) {
  *receipt = (struct dds_receipt){0, 0};
  int64_t left_ns = receiver->arrived == NULL ? timeout_ms * NS_PER_MS : 0;
  int for_java = 0;
  do {
    int64_t waited_ns;
    int wait_ms = left_ns < 0 ? -1 : (int)((left_ns + NS_PER_MS - 1) / NS_PER_MS);
    int channels = receive_once(receiver, wait_ms, &waited_ns, &for_java, receipt);
    if (channels < 0) {
      return channels;
    }
    receipt->short_waits += channels > 0 && waited_ns <= short_ns;
    if (left_ns > 0) {
      left_ns = waited_ns < left_ns ? left_ns - waited_ns : 0;
    }
  } while (!for_java && receiver->expected > 0 && left_ns != 0 && receipt->short_waits < most_waits);
  return take_arrivals(receiver, arrivals, most);
}
