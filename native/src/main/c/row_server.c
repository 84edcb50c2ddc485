// SPDX-License-Identifier: Apache-2.0
#include "row_server.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "row_reply.h"

#define EVENTS 64
#define SIZE_BYTES 4

/* Number of requests of one channel before the others have their turn. */
#define MOST_REPLIES 4

/*
 * unread    bytes of requests that were received and are not answered
 * queued    whether the channel waits in the queue, because unread may contain a whole request
 */
struct dds_row_channel {
  int socket;
  struct dds_served_rows *rows;
  uint8_t *unread;
  size_t unread_bytes;
  int queued;
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

static int watch(struct dds_row_server *server, int descriptor, struct dds_row_channel *channel) {
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = channel};
  return epoll_ctl(server->epoll, EPOLL_CTL_ADD, descriptor, &event) == 0 ? 0 : -errno;
}

int dds_row_server_open(int selector, uint8_t *input, size_t input_bytes, uint8_t *packed, size_t packed_bytes,
                        struct dds_row_server **server) {
  if (input_bytes < 2 * SIZE_BYTES || packed_bytes < DDS_LEAST_PACKED) {
    return -EINVAL;
  }
  struct dds_row_server *opened = calloc(1, sizeof *opened);
  if (opened == NULL) {
    return -ENOMEM;
  }
  *opened = (struct dds_row_server){.epoll = epoll_create1(EPOLL_CLOEXEC),
                                    .input = input,
                                    .input_bytes = input_bytes,
                                    .packed = packed,
                                    .packed_bytes = packed_bytes};
  int result = opened->epoll < 0 ? -errno : watch(opened, selector, NULL);
  if (result < 0) {
    if (opened->epoll >= 0) {
      close(opened->epoll);
    }
    free(opened);
    return result;
  }
  *server = opened;
  return 0;
}

static void free_channel(struct dds_row_channel *channel) {
  dds_rows_release(channel->rows);
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

struct dds_row_channel *dds_row_server_add(struct dds_row_server *server, int socket, struct dds_served_rows *rows) {
  struct dds_row_channel *channel = calloc(1, sizeof *channel);
  if (channel == NULL) {
    return NULL;
  }
  int result = watch(server, socket, channel);
  if (result < 0) {
    free(channel);
    errno = -result;
    return NULL;
  }
  dds_rows_retain(rows);
  channel->socket = socket;
  channel->rows = rows;
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
  epoll_ctl(server->epoll, EPOLL_CTL_DEL, channel->socket, NULL); /* fails while it is paused */
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

int dds_row_server_pause(struct dds_row_server *server, struct dds_row_channel *channel) {
  if (channel->queued) {
    remove_queued(server, channel);
  }
  /* Not without events: an error of the socket would still be reported, again and again. */
  return epoll_ctl(server->epoll, EPOLL_CTL_DEL, channel->socket, NULL) == 0 ? 0 : -errno;
}

int dds_row_server_resume(struct dds_row_server *server, struct dds_row_channel *channel) {
  if (channel->unread_bytes > 0) {
    enqueue(server, channel);
  }
  return watch(server, channel->socket, channel);
}

/* Keeps bytes for the next turn of a channel. Returns whether there was memory. */
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
  channel->unread_bytes = bytes;
  return 1;
}

static int64_t size_at(const uint8_t *place) {
  uint32_t size;
  memcpy(&size, place, sizeof size);
  return (int32_t)be32toh(size);
}

/* Receives what fits behind the unread bytes. Returns the number of bytes then, or -1 if the peer has ended. */
static ssize_t receive(struct dds_row_server *server, struct dds_row_channel *channel) {
  size_t have = channel->unread_bytes;
  if (have > 0) {
    memcpy(server->input, channel->unread, have);
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

/*
 * Answers the requests of the input. Returns the number of answered ones; sets the event if Java has
 * to do something.
 */
static int answer_all(struct dds_row_server *server, struct dds_row_channel *channel, size_t have,
                      struct dds_row_event *event) {
  size_t at = 0;
  int answered = 0;
  int more = 0;
  while (have - at >= SIZE_BYTES && event->kind == DDS_ROWS_NONE) {
    int64_t size = size_at(server->input + at);
    if (size < 1 || size > (int64_t)(server->input_bytes - SIZE_BYTES)) {
      *event = (struct dds_row_event){.kind = DDS_ROWS_ILLEGAL, .length = size};
      break;
    }
    if (have - at - SIZE_BYTES < (size_t)size) {
      break;
    }
    if (answered == MOST_REPLIES) {
      more = 1;
      break;
    }
    size_t start = at + SIZE_BYTES;
    struct dds_sent sent = {0, 0};
    enum dds_reply_result result = dds_reply(channel->rows, channel->socket, server->input + start, (size_t)size,
                                             server->packed, server->packed_bytes, &sent);
    at = start + (size_t)size;
    if (result == DDS_REPLIED) {
      answered++;
    } else if (result == DDS_BROKEN) {
      event->kind = DDS_ROWS_ENDED;
    } else {
      *event = (struct dds_row_event){.kind = DDS_ROWS_REQUEST,
                                      .offset = (int64_t)start,
                                      .length = size,
                                      .sent = sent.bytes,
                                      .version = sent.version};
      more = 1;
    }
  }
  if (!keep(channel, server->input + at, have - at)) {
    event->kind = DDS_ROWS_ENDED;
  } else if (more && have > at) {
    enqueue(server, channel);
  }
  return answered;
}

/* Lets a channel have its turn. */
static int turn(struct dds_row_server *server, struct dds_row_channel *channel, int is_ready,
                struct dds_row_event *event) {
  ssize_t have = (ssize_t)channel->unread_bytes;
  if (is_ready) {
    have = receive(server, channel);
  } else if (have > 0) {
    memcpy(server->input, channel->unread, (size_t)have);
  }
  int answered = 0;
  if (have < 0) {
    event->kind = DDS_ROWS_ENDED;
  } else {
    answered = answer_all(server, channel, (size_t)have, event);
  }
  event->channel = channel;
  return answered;
}

/* Lets the channels that are queued now have their turn. */
static int serve_queued(struct dds_row_server *server, struct dds_row_event *event) {
  struct dds_row_channel *last = server->first_queued == NULL ? NULL : server->last_queued;
  int answered = 0;
  while (last != NULL && event->kind == DDS_ROWS_NONE) {
    struct dds_row_channel *channel = dequeue(server);
    answered += turn(server, channel, 0, event);
    if (channel == last) {
      break;
    }
  }
  return answered;
}

int dds_row_server_serve(struct dds_row_server *server, int timeout_ms, struct dds_row_event *event) {
  struct epoll_event ready[EVENTS];
  *event = (struct dds_row_event){.kind = DDS_ROWS_NONE};
  int count = epoll_wait(server->epoll, ready, EVENTS, server->first_queued == NULL ? timeout_ms : 0);
  if (count < 0 && errno != EINTR) {
    return -errno;
  }
  int selector = 0;
  for (int i = 0; i < count; i++) {
    selector |= ready[i].data.ptr == NULL;
  }
  int answered = serve_queued(server, event);
  for (int i = 0; i < count && event->kind == DDS_ROWS_NONE; i++) { /* epoll reports the others again */
    struct dds_row_channel *channel = ready[i].data.ptr;
    if (channel != NULL && !channel->queued) {
      answered += turn(server, channel, 1, event);
    }
  }
  event->selector = selector;
  return answered;
}
