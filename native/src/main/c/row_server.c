// SPDX-License-Identifier: Apache-2.0
#include "row_server.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "epoll_set.h"
#include "row_reply.h"

#define EVENTS 64
#define SIZE_BYTES 4

/* Number of waits after which Java has its turn. */
#define MOST_ROUNDS 64

#define NS_PER_MS INT64_C(1000000)

/* Number of replies to one channel before the others have their turn. */
#define MOST_REPLIES 4

/*
 * unread        memory with bytes of requests that were received and are not answered, or NULL
 * unread_at     position of the first of them
 * unread_bytes  number of them
 * queued        whether the channel waits for its turn
 * ready         whether more bytes have arrived, or the socket takes more of the reply
 * pending       request whose reply is being sent, or NULL
 */
struct dds_row_channel {
  int socket;
  struct dds_served_rows *rows;
  int64_t *counts;
  uint8_t *unread;
  size_t unread_at;
  size_t unread_bytes;
  int queued;
  int ready;
  uint8_t *pending;
  size_t pending_bytes;
  struct dds_sending sending;
  struct dds_row_channel *previous;
  struct dds_row_channel *next;
  struct dds_row_channel *next_queued;
};

struct dds_row_server {
  int epoll;
  uint8_t *input;
  size_t input_bytes;
  uint8_t *packed;
  size_t packed_bytes;
  struct dds_row_channel *channels;
  struct dds_row_channel *first_queued;
  struct dds_row_channel *last_queued;
};

int dds_row_server_open(int selector, uint8_t *input, size_t input_bytes, uint8_t *packed, size_t packed_bytes,
                        struct dds_row_server **server) {
  if (input_bytes < 2 * SIZE_BYTES || packed_bytes < DDS_LEAST_PACKED) {
    return -EINVAL;
  }
  struct dds_row_server *opened = calloc(1, sizeof *opened);
  if (opened == NULL) {
    return -ENOMEM;
  }
  *opened = (struct dds_row_server){.epoll = dds_epoll_open(selector),
                                    .input = input,
                                    .input_bytes = input_bytes,
                                    .packed = packed,
                                    .packed_bytes = packed_bytes};
  if (opened->epoll < 0) {
    int result = opened->epoll;
    free(opened);
    return result;
  }
  *server = opened;
  return 0;
}

static void free_channel(struct dds_row_channel *channel) {
  dds_reply_end(&channel->sending);
  dds_rows_release(channel->rows);
  free(channel->pending);
  free(channel->unread);
  free(channel);
}

void dds_row_server_close(struct dds_row_server *server) {
  while (server->channels != NULL) {
    struct dds_row_channel *channel = server->channels;
    server->channels = channel->next;
    free_channel(channel);
  }
  close(server->epoll);
  free(server);
}

struct dds_row_channel *dds_row_server_add(struct dds_row_server *server, int socket, struct dds_served_rows *rows,
                                           int64_t *counts) {
  struct dds_row_channel *channel = calloc(1, sizeof *channel);
  if (channel == NULL) {
    return NULL;
  }
  int result = dds_epoll_add(server->epoll, socket, channel);
  if (result < 0) {
    free(channel);
    errno = -result;
    return NULL;
  }
  dds_rows_retain(rows);
  channel->socket = socket;
  channel->rows = rows;
  channel->counts = counts;
  channel->next = server->channels;
  if (channel->next != NULL) {
    channel->next->previous = channel;
  }
  server->channels = channel;
  return channel;
}

static void enqueue(struct dds_row_server *server, struct dds_row_channel *channel) {
  if (channel->queued) {
    return;
  }
  channel->queued = 1;
  channel->next_queued = NULL;
  if (server->first_queued == NULL) {
    server->first_queued = channel;
  } else {
    server->last_queued->next_queued = channel;
  }
  server->last_queued = channel;
}

static struct dds_row_channel *dequeue(struct dds_row_server *server) {
  struct dds_row_channel *channel = server->first_queued;
  server->first_queued = channel->next_queued;
  channel->queued = 0;
  return channel;
}

static void remove_queued(struct dds_row_server *server, struct dds_row_channel *channel) {
  struct dds_row_channel *last = NULL;
  struct dds_row_channel **at = &server->first_queued;
  while (*at != NULL) {
    if (*at == channel) {
      *at = channel->next_queued;
      continue;
    }
    last = *at;
    at = &last->next_queued;
  }
  server->last_queued = last;
  channel->queued = 0;
}

void dds_row_server_remove(struct dds_row_server *server, struct dds_row_channel *channel) {
  epoll_ctl(server->epoll, EPOLL_CTL_DEL, channel->socket, NULL);
  if (channel->queued) {
    remove_queued(server, channel);
  }
  if (channel->previous != NULL) {
    channel->previous->next = channel->next;
  } else {
    server->channels = channel->next;
  }
  if (channel->next != NULL) {
    channel->next->previous = channel->previous;
  }
  free_channel(channel);
}

static int64_t size_at(const uint8_t *place) {
  uint32_t size;
  memcpy(&size, place, sizeof size);
  return (int32_t)be32toh(size);
}

static int is_legal(const struct dds_row_server *server, int64_t size) {
  return size >= 1 && size <= (int64_t)(server->input_bytes - SIZE_BYTES);
}

/* Returns whether bytes begin with a whole request, or with an illegal size. */
static int begins_request(const struct dds_row_server *server, const uint8_t *bytes, size_t count) {
  if (count < SIZE_BYTES) {
    return 0;
  }
  int64_t size = size_at(bytes);
  return !is_legal(server, size) || (int64_t)(count - SIZE_BYTES) >= size;
}

static const uint8_t *unread(const struct dds_row_channel *channel) {
  return channel->unread == NULL ? NULL : channel->unread + channel->unread_at;
}

/* Keeps the rest of the input. Returns whether there was memory. */
static int keep(struct dds_row_channel *channel, const uint8_t *from, size_t bytes) {
  uint8_t *memory = NULL;
  if (bytes > 0) {
    memory = malloc(bytes);
    if (memory == NULL) {
      return 0;
    }
    memcpy(memory, from, bytes);
  }
  free(channel->unread);
  channel->unread = memory;
  channel->unread_at = 0;
  channel->unread_bytes = bytes;
  return 1;
}

/* Receives what fits behind the unread bytes. Returns the number of bytes then, or -1 if the peer has ended. */
static ssize_t receive(struct dds_row_server *server, struct dds_row_channel *channel) {
  size_t have = channel->unread_bytes;
  if (have > 0) {
    memcpy(server->input, unread(channel), have);
  }
  ssize_t got;
  do {
    got = read(channel->socket, server->input + have, server->input_bytes - have);
  } while (got < 0 && errno == EINTR);
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK)) {
    return -1;
  }
  return (ssize_t)have + (got > 0 ? got : 0);
}

/* Returns the event for the result of a reply that is not sent on. */
static enum dds_row_event_kind event_of(enum dds_reply_result result) {
  switch (result) {
    case DDS_TRUNCATED:
      return DDS_ROWS_TRUNCATED;
    case DDS_ILLEGAL:
      return DDS_ROWS_ILLEGAL;
    case DDS_DAMAGED:
      return DDS_ROWS_DAMAGED;
    case DDS_NO_MEMORY:
      return DDS_ROWS_NO_MEMORY;
    default:
      return DDS_ROWS_ENDED;
  }
}

static int waits_for(const struct dds_row_server *server, struct dds_row_channel *channel, uint32_t events) {
  struct epoll_event event = {.events = events, .data.ptr = channel};
  return epoll_ctl(server->epoll, EPOLL_CTL_MOD, channel->socket, &event) == 0;
}

/* Sends a reply from now on when the socket takes more. Returns whether there was memory. */
static int suspend(struct dds_row_server *server, struct dds_row_channel *channel, const uint8_t *request,
                   size_t bytes) {
  channel->pending = malloc(bytes);
  if (channel->pending == NULL) {
    return 0;
  }
  memcpy(channel->pending, request, bytes);
  channel->pending_bytes = bytes;
  return waits_for(server, channel, EPOLLOUT);
}

static enum dds_reply_result reply_to(struct dds_row_server *server, struct dds_row_channel *channel,
                                      const uint8_t *request, size_t bytes) {
  enum dds_reply_result result = dds_reply(channel->rows, channel->socket, request, bytes, server->packed,
                                           server->packed_bytes, &channel->sending, channel->counts);
  if (result != DDS_SENT_PART) {
    dds_reply_end(&channel->sending);
  }
  return result;
}

/* Sends more of the pending reply. Returns 1 if it is whole then. */
static int resume(struct dds_row_server *server, struct dds_row_channel *channel, struct dds_row_event *event) {
  enum dds_reply_result result = reply_to(server, channel, channel->pending, channel->pending_bytes);
  if (result == DDS_SENT_PART) {
    return 0;
  }
  free(channel->pending);
  channel->pending = NULL;
  if (result != DDS_REPLIED || !waits_for(server, channel, EPOLLIN)) {
    event->kind = event_of(result);
    return 0;
  }
  return 1;
}

/*
 * Answers the first requests of some bytes, at most MOST_REPLIES. Returns the number of answered ones;
 * sets the number of bytes that are left, and the event if the channel has to be closed.
 */
static int answer(struct dds_row_server *server, struct dds_row_channel *channel, const uint8_t *bytes, size_t count,
                  size_t *rest, struct dds_row_event *event) {
  int answered = 0;
  while (answered < MOST_REPLIES && channel->pending == NULL && event->kind == DDS_ROWS_NONE &&
         begins_request(server, bytes, count)) {
    int64_t size = size_at(bytes);
    if (!is_legal(server, size)) {
      *event = (struct dds_row_event){.kind = DDS_ROWS_SIZE, .length = size};
      break;
    }
    const uint8_t *request = bytes + SIZE_BYTES;
    enum dds_reply_result result = reply_to(server, channel, request, (size_t)size);
    bytes = request + size;
    count -= SIZE_BYTES + (size_t)size;
    if (result == DDS_REPLIED) {
      answered++;
    } else if (result != DDS_SENT_PART) {
      event->kind = event_of(result);
    } else if (!suspend(server, channel, request, (size_t)size)) {
      event->kind = DDS_ROWS_NO_MEMORY;
    }
  }
  *rest = count;
  return answered;
}

/* Lets a channel have its turn, and the next one after the others if it has more requests. */
static int turn(struct dds_row_server *server, struct dds_row_channel *channel, struct dds_row_event *event) {
  int answered = 0;
  size_t rest;
  int ready = channel->ready;
  channel->ready = 0;
  if (channel->pending != NULL) {
    answered = ready ? resume(server, channel, event) : 0;
  } else if (begins_request(server, unread(channel), channel->unread_bytes)) {
    channel->ready = ready;
    answered = answer(server, channel, unread(channel), channel->unread_bytes, &rest, event);
    channel->unread_at += channel->unread_bytes - rest;
    channel->unread_bytes = rest;
    if (rest == 0) {
      keep(channel, NULL, 0); /* frees the memory */
    }
  } else if (ready) {
    ssize_t count = receive(server, channel);
    if (count < 0) {
      event->kind = DDS_ROWS_ENDED;
    } else {
      answered = answer(server, channel, server->input, (size_t)count, &rest, event);
      if (!keep(channel, server->input + count - rest, rest)) {
        event->kind = DDS_ROWS_NO_MEMORY;
      }
    }
  }
  event->channel = channel;
  if (channel->pending == NULL && (channel->ready || begins_request(server, unread(channel), channel->unread_bytes))) {
    enqueue(server, channel);
  }
  return answered;
}

/* Waits for channels, and lets those that are queued then have a turn, until a channel has to be closed. */
static int serve_once(struct dds_row_server *server, int timeout_ms, int64_t *waited_ns, struct dds_row_event *event) {
  struct epoll_event ready[EVENTS];
  int count = dds_epoll_wait(server->epoll, ready, EVENTS, server->first_queued == NULL ? timeout_ms : 0, waited_ns);
  if (count < 0) {
    return count;
  }
  for (int i = 0; i < count; i++) {
    struct dds_row_channel *channel = ready[i].data.ptr;
    if (channel == NULL) {
      event->selector = 1;
    } else {
      channel->ready = 1;
      enqueue(server, channel);
    }
  }
  int selector = event->selector;
  struct dds_row_channel *last = server->first_queued == NULL ? NULL : server->last_queued;
  struct dds_row_channel *channel = NULL;
  int answered = 0;
  while (channel != last && event->kind == DDS_ROWS_NONE) {
    channel = dequeue(server);
    answered += turn(server, channel, event);
  }
  event->selector = selector;
  return answered;
}

int dds_row_server_serve(struct dds_row_server *server, int timeout_ms, int most_waits, int64_t short_ns,
                         struct dds_row_event *event) {
  int64_t left_ns = timeout_ms * NS_PER_MS;
  int answered = 0;
  int waits = 0;
  *event = (struct dds_row_event){.kind = DDS_ROWS_NONE};
  for (int round = 0; round < MOST_ROUNDS && waits < most_waits && (round == 0 || left_ns != 0); round++) {
    int64_t waited_ns;
    int result = serve_once(server, left_ns < 0 ? -1 : (int)((left_ns + NS_PER_MS - 1) / NS_PER_MS), &waited_ns, event);
    if (result < 0) {
      return result;
    }
    answered += result;
    if (left_ns > 0) {
      left_ns = waited_ns < left_ns ? left_ns - waited_ns : 0;
    }
    waits += (result > 0 || event->kind != DDS_ROWS_NONE) && waited_ns <= short_ns;
    if (result == 0 || event->kind != DDS_ROWS_NONE || event->selector) {
      break;
    }
  }
  event->short_waits = waits;
  return answered;
}
