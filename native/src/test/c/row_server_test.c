// SPDX-License-Identifier: Apache-2.0
#include "row_server.h"

#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "row_reply.h"

#define RECORD 40
#define SHIFT 5
#define ROWS 2000
#define CHUNKS ((ROWS >> SHIFT) + 1)
#define END 64
#define INPUT (400 << 10)
#define SHORT_NS INT64_C(1000000000)

static const uint8_t nonce[DDS_NONCE_BYTES] = {7, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static const uint8_t other[DDS_NONCE_BYTES] = {7, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 99};

static uint8_t memory[CHUNKS][(1 << SHIFT) * RECORD];
static uint64_t version = 8;
static uint8_t input[INPUT];
static uint8_t packed[64 << 10];

static struct dds_served_rows *rows;
static struct dds_row_server *server;
static struct dds_row_channel *channel;
static int selector;
static int wakeup;
static int peer;
static struct dds_row_event event;

static uint8_t byte_of(int64_t row, int64_t position) {
  return (uint8_t)(row * 31 + position * 7 + row / 256);
}

static void open_all(void) {
  int64_t chunks[CHUNKS];
  for (int64_t row = 0; row < ROWS; row++) {
    for (int64_t i = 0; i < RECORD; i++) {
      memory[row >> SHIFT][(row & ((1 << SHIFT) - 1)) * RECORD + i] = byte_of(row, i);
    }
  }
  for (size_t c = 0; c < CHUNKS; c++) {
    chunks[c] = (int64_t)(intptr_t)memory[c];
  }
  struct dds_served_segment segment = {
      .version = &version, .rows = ROWS, .record_bytes = RECORD, .row_shift = SHIFT, .chunks = chunks};
  memcpy(segment.nonce, nonce, sizeof nonce);
  rows = dds_rows_open();
  CHECK(rows != NULL);
  CHECK(dds_rows_add(rows, &segment, CHUNKS) == 0);
  CHECK(dds_rows_add(rows, &segment, CHUNKS) == 0); /* no effect */
  segment.record_bytes = 0;
  CHECK(dds_rows_add(rows, &segment, CHUNKS) == -EINVAL);

  selector = epoll_create1(0);
  wakeup = eventfd(0, EFD_NONBLOCK);
  struct epoll_event watched = {.events = EPOLLIN};
  CHECK(selector >= 0 && wakeup >= 0 && epoll_ctl(selector, EPOLL_CTL_ADD, wakeup, &watched) == 0);
  CHECK(dds_row_server_open(selector, input, 4, packed, sizeof packed, &server) == -EINVAL);
  CHECK(dds_row_server_open(selector, input, INPUT, packed, sizeof packed, &server) == 0);
}

static int open_channel(void) {
  int ends[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
  channel = dds_row_server_add(server, ends[0], rows);
  CHECK(channel != NULL);
  peer = ends[1];
  return ends[0];
}

static void close_channel(int socket) {
  dds_row_server_remove(server, channel);
  close(socket);
  close(peer);
}

/* A channel besides the present one. */
struct ends {
  int socket;
  int peer;
  struct dds_row_channel *channel;
};

static struct ends open_another(void) {
  int socket = open_channel();
  return (struct ends){.socket = socket, .peer = peer, .channel = channel};
}

/* Makes a channel the present one; returns its socket. */
static int use(struct ends ends) {
  peer = ends.peer;
  channel = ends.channel;
  return ends.socket;
}

static uint8_t *put_int(uint8_t *to, int64_t value) {
  uint32_t big = htobe32((uint32_t)value);
  memcpy(to, &big, sizeof big);
  return to + sizeof big;
}

static uint8_t *put_long(uint8_t *to, int64_t value) {
  uint64_t big = htobe64((uint64_t)value);
  memcpy(to, &big, sizeof big);
  return to + sizeof big;
}

/* A request, in the fields of GatherRequest.java. */
struct request {
  int lengths;
  int64_t skip;
  int64_t bytes;
  int64_t segments;
  const uint8_t *nonce;
  int64_t runs;
  int64_t rows;
  const int64_t *first;
  const int64_t *counts;
};

static struct request request_for(int64_t runs, const int64_t *first, const int64_t *counts) {
  int64_t count = 0;
  for (int64_t r = 0; r < runs; r++) {
    count += counts == NULL ? 1 : counts[r];
  }
  return (struct request){0, 0, count * RECORD, 1, nonce, runs, count, first, counts};
}

static size_t encode(const struct request *request, uint8_t *frame) {
  uint8_t *to = frame + 4;
  *to++ = (uint8_t)request->lengths;
  to = put_int(put_int(put_int(to, request->skip), request->bytes), request->segments);
  memcpy(to, request->nonce, DDS_NONCE_BYTES);
  to = put_int(put_int(to + DDS_NONCE_BYTES, request->runs), request->rows);
  for (int64_t r = 0; r < request->runs; r++) {
    to = put_long(to, request->first[r]);
  }
  for (int64_t r = 0; request->counts != NULL && r < request->runs; r++) {
    to = put_int(to, request->counts[r]);
  }
  put_int(frame, to - frame - 4);
  return (size_t)(to - frame);
}

static void post(const void *bytes, size_t count) {
  CHECK(write(peer, bytes, count) == (ssize_t)count);
}

static void post_request(struct request request) {
  static uint8_t frame[INPUT];
  post(frame, encode(&request, frame));
}

static void take(uint8_t *to, size_t count) {
  for (size_t got = 0; got < count;) {
    ssize_t some = read(peer, to + got, count - got);
    CHECK(some > 0);
    got += (size_t)some;
  }
}

static void is_empty(void) {
  uint8_t byte;
  CHECK(read(peer, &byte, 1) < 0 && errno == EAGAIN);
}

static void is_end(const uint8_t *end, uint8_t status, size_t used) {
  CHECK(end[0] == status);
  for (size_t i = used; i < END; i++) {
    CHECK(end[i] == 0);
  }
}

/* Checks a reply from its first byte on. */
static void is_reply(const uint8_t *reply, const struct request *request, uint8_t status) {
  uint8_t expected[9];
  is_end(reply, 0, 1);
  reply += END;
  for (int64_t r = 0; r < request->runs; r++) {
    for (int64_t i = 0; i < (request->counts == NULL ? 1 : request->counts[r]); i++) {
      for (int64_t b = 0; b < RECORD; b++) {
        CHECK(*reply++ == byte_of(request->first[r] + i, b));
      }
    }
  }
  is_end(reply, status, sizeof expected);
  expected[0] = status;
  put_long(expected + 1, (int64_t)version);
  CHECK(memcmp(reply, expected, sizeof expected) == 0);
}

static void gets_reply(struct request request, uint8_t status) {
  static uint8_t reply[1 << 20];
  take(reply, 2 * END + (size_t)request.bytes);
  is_reply(reply, &request, status);
}

static void serves(int answered, enum dds_row_event_kind kind) {
  CHECK(dds_row_server_serve(server, 0, 1, SHORT_NS, &event) == answered);
  CHECK(event.kind == kind);
  CHECK(kind == DDS_ROWS_NONE || event.channel == channel);
  CHECK(!event.selector);
}

static void answers_rows_and_runs(void) {
  int socket = open_channel();
  int64_t first[ROWS];
  for (int64_t i = 0; i < ROWS; i++) {
    first[i] = (i * 787 + 11) % ROWS;
  }
  const int64_t runs[] = {0, 1999, 30, 33, 100};
  const int64_t counts[] = {1, 1, 3, 31, 1900};
  int64_t before = dds_rows_counted(rows);
  for (int64_t count = 1; count <= ROWS; count += 111) { /* the larger ones need several windows */
    post_request(request_for(count, first, NULL));
    serves(1, DDS_ROWS_NONE);
    gets_reply(request_for(count, first, NULL), 0);
  }
  post_request(request_for(5, runs, counts));
  serves(1, DDS_ROWS_NONE);
  gets_reply(request_for(5, runs, counts), 0);
  CHECK(dds_rows_counted(rows) == before + 20);

  version = 9;
  post_request(request_for(3, first, NULL));
  serves(1, DDS_ROWS_NONE);
  gets_reply(request_for(3, first, NULL), 1);
  version = 10;
  is_empty();
  serves(0, DDS_ROWS_NONE);
  close_channel(socket);
}

/* Requests that arrive byte by byte, and many at once. */
static void answers_parts_and_many(void) {
  int socket = open_channel();
  const int64_t first[] = {5, 1234, 77};
  struct request request = request_for(3, first, NULL);
  uint8_t frame[200];
  size_t bytes = encode(&request, frame);
  for (size_t i = 0; i < bytes; i++) {
    is_empty();
    post(frame + i, 1);
    serves(i + 1 == bytes, DDS_ROWS_NONE);
  }
  gets_reply(request, 0);
  for (int i = 0; i < 11; i++) {
    post(frame, bytes);
  }
  post(frame, 3);
  serves(4, DDS_ROWS_NONE);
  serves(4, DDS_ROWS_NONE);
  serves(3, DDS_ROWS_NONE);
  serves(0, DDS_ROWS_NONE);
  post(frame + 3, bytes - 3);
  serves(1, DDS_ROWS_NONE);
  for (int i = 0; i < 12; i++) {
    gets_reply(request, 0);
  }
  close_channel(socket);
}

/* A peer that sends many requests at once does not keep the thread from the others. */
static void lets_channels_take_turns(void) {
  struct ends another = open_another();
  int socket = open_channel();
  const int64_t first[] = {5, 1234, 77};
  struct request request = request_for(3, first, NULL);
  uint8_t frame[200];
  size_t bytes = encode(&request, frame);
  for (int i = 0; i < 9; i++) {
    post(frame, bytes);
  }
  CHECK(write(another.peer, frame, bytes) == (ssize_t)bytes);
  serves(4 + 1, DDS_ROWS_NONE);
  serves(4, DDS_ROWS_NONE);
  serves(1, DDS_ROWS_NONE);
  for (int i = 0; i < 9; i++) {
    gets_reply(request, 0);
  }
  close_channel(socket);
  socket = use(another);
  gets_reply(request, 0);
  close_channel(socket);
}

/* Nor does a peer whose requests Java has to answer, which returns to Java for each of them. */
static void lets_channels_take_turns_with_java(void) {
  struct ends another = open_another();
  int socket = open_channel();
  const int64_t first[] = {5, 1234, 77};
  struct request request = request_for(3, first, NULL);
  struct request gone = request;
  uint8_t frame[200];
  uint8_t gone_frame[200];
  gone.nonce = other;
  size_t bytes = encode(&request, frame);
  size_t gone_bytes = encode(&gone, gone_frame);
  int answered = 0;
  int left = 0;
  for (int i = 0; i < 20; i++) {
    post(gone_frame, gone_bytes);
  }
  for (int i = 0; i < 30; i++) {
    post(gone_frame, gone_bytes); /* it goes on */
    CHECK(write(another.peer, frame, bytes) == (ssize_t)bytes);
    for (int calls = 0; answered == i; calls++) {
      int more = dds_row_server_serve(server, 0, 1, SHORT_NS, &event);
      CHECK(more >= 0 && calls < 2);
      answered += more;
      if (event.kind != DDS_ROWS_NONE) {
        CHECK(event.kind == DDS_ROWS_REQUEST && event.channel == channel);
        CHECK(event.length == (int64_t)gone_bytes - 4);
        CHECK(memcmp(input, gone_frame + 4, gone_bytes - 4) == 0);
        left++;
      }
    }
  }
  CHECK(left >= 29);
  close_channel(socket);
  socket = use(another);
  for (int i = 0; i < answered; i++) {
    gets_reply(request, 0);
  }
  close_channel(socket);
}

/* Channels that are removed or paused while others are queued before and behind them. */
static void forgets_queued_channels(void) {
  const int64_t first[] = {5};
  struct request request = request_for(1, first, NULL);
  uint8_t frame[200];
  size_t bytes = encode(&request, frame);
  for (int which = 0; which < 3; which++) {
    for (int removes = 0; removes < 2; removes++) {
      struct ends all[3];
      for (int i = 0; i < 3; i++) {
        all[i] = open_another();
        for (int r = 0; r < 5; r++) {
          post(frame, bytes);
        }
      }
      CHECK(dds_row_server_serve(server, 0, 1, SHORT_NS, &event) == 3 * 4);
      if (removes) {
        dds_row_server_remove(server, all[which].channel);
      } else {
        CHECK(dds_row_server_pause(server, all[which].channel) == 0);
      }
      CHECK(dds_row_server_serve(server, 0, 1, SHORT_NS, &event) == 2);
      for (int i = 0; i < 3; i++) {
        CHECK(write(all[i].peer, frame, bytes) == (ssize_t)bytes);
      }
      CHECK(dds_row_server_serve(server, 0, 1, SHORT_NS, &event) == 2);
      if (!removes) {
        CHECK(dds_row_server_resume(server, all[which].channel) == 0);
        CHECK(dds_row_server_serve(server, 1000, 2, SHORT_NS, &event) == 2);
      }
      for (int i = 0; i < 3; i++) {
        use(all[i]);
        for (int r = 0; r < (removes && i == which ? 4 : 6); r++) {
          gets_reply(request, 0);
        }
        if (!removes || i != which) {
          dds_row_server_remove(server, channel);
        }
        close(all[i].socket);
        close(peer);
      }
    }
  }
}

/* Several waits in one call, which counts the short ones. */
static void waits_again_after_short_waits(void) {
  int socket = open_channel();
  const int64_t first[] = {5};
  struct request request = request_for(1, first, NULL);
  post_request(request);
  CHECK(dds_row_server_serve(server, 1, 3, SHORT_NS, &event) == 1 && event.short_waits == 1);
  gets_reply(request, 0);
  uint8_t frame[200];
  size_t bytes = encode(&request, frame);
  for (int i = 0; i < 10; i++) {
    post(frame, bytes);
  }
  CHECK(dds_row_server_serve(server, 0, 2, SHORT_NS, &event) == 4 && event.short_waits == 1);
  CHECK(dds_row_server_serve(server, -1, 1, SHORT_NS, &event) == 4 && event.short_waits == 1);
  CHECK(dds_row_server_serve(server, 1, 1, -1, &event) == 2 && event.short_waits == 0);
  for (int i = 0; i < 20; i++) {
    post(frame, bytes);
  }
  CHECK(dds_row_server_serve(server, 1000, 2, SHORT_NS, &event) == 8 && event.short_waits == 2);
  CHECK(dds_row_server_serve(server, 1000, 3, SHORT_NS, &event) == 12 && event.short_waits == 3);
  for (int i = 0; i < 30; i++) {
    gets_reply(request, 0);
  }
  request.lengths = 1;
  post_request(request);
  CHECK(dds_row_server_serve(server, 1000, 3, SHORT_NS, &event) == 0 && event.short_waits == 1);
  CHECK(event.kind == DDS_ROWS_REQUEST);
  close_channel(socket);
}

/* Checks that Java gets a request as it was sent. */
static void leaves(struct request request) {
  uint8_t frame[1000];
  size_t bytes = encode(&request, frame);
  post(frame, bytes);
  serves(0, DDS_ROWS_REQUEST);
  CHECK(event.length == (int64_t)bytes - 4 && event.sent == 0);
  CHECK(memcmp(input, frame + 4, bytes - 4) == 0);
  is_empty();
}

static void leaves_others_to_java(void) {
  int socket = open_channel();
  const int64_t first[] = {5, 1234, 77};
  const int64_t counts[] = {1, 2, 1};
  const int64_t wrong[][3] = {{-1, 1, 2}, {1, ROWS, 2}, {INT64_MIN, 1, 2}, {1, INT64_MAX, 2}};
  const int64_t wrong_counts[][3] = {{0, 2, 1}, {1, -1, 3}, {1, ROWS, 1}, {1, INT32_MAX, 1}};
  struct request good = request_for(3, first, NULL);
  struct request bad = good;
  bad.lengths = 1;
  leaves(bad);
  bad = good, bad.skip = 1;
  leaves(bad);
  bad = good, bad.bytes--;
  leaves(bad);
  bad = good, bad.segments = 2;
  leaves(bad);
  bad = good, bad.segments = -1;
  leaves(bad);
  bad = good, bad.nonce = other;
  leaves(bad);
  bad = good, bad.rows = 4;
  leaves(bad);
  for (size_t i = 0; i < 4; i++) {
    leaves(request_for(3, wrong[i], NULL));
    bad = request_for(3, first, wrong_counts[i]);
    leaves(bad);
    bad.rows = 4, bad.bytes = 4 * RECORD;
    leaves(bad);
  }
  bad = request_for(3, first, counts);
  bad.rows = 5, bad.bytes = 5 * RECORD;
  leaves(bad);
  uint8_t tiny[] = {0, 0, 0, 1, 0};
  post(tiny, sizeof tiny);
  serves(0, DDS_ROWS_REQUEST);
  CHECK(event.length == 1);

  /* Behind such a request, others wait for their turn. */
  uint8_t frames[600];
  bad = good, bad.lengths = 1;
  size_t bytes = encode(&bad, frames);
  bytes += encode(&good, frames + bytes);
  post(frames, bytes);
  serves(0, DDS_ROWS_REQUEST);
  serves(1, DDS_ROWS_NONE);
  gets_reply(good, 0);

  /* A removed segment is one that is not there. */
  dds_rows_remove(rows, other);
  close_channel(socket);
}

static void refuses_illegal_sizes(void) {
  const int64_t sizes[] = {0, -1, INT32_MIN, INT32_MAX, INPUT - 3};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    int socket = open_channel();
    uint8_t frame[4];
    put_int(frame, sizes[i]);
    post(frame, sizeof frame);
    serves(0, DDS_ROWS_ILLEGAL);
    CHECK(event.length == sizes[i]);
    close_channel(socket);
  }
}

static void tells_that_the_peer_ended(void) {
  int socket = open_channel();
  close(peer);
  serves(0, DDS_ROWS_ENDED);
  peer = -1;
  dds_row_server_remove(server, channel);
  close(socket);

  socket = open_channel();
  const int64_t first[] = {5};
  post_request(request_for(1, first, NULL));
  shutdown(peer, SHUT_RD);
  serves(0, DDS_ROWS_ENDED); /* the reply fails, without a signal */
  close_channel(socket);
}

/* A peer that does not receive: Java continues the reply, while nothing is received. */
static void leaves_the_rest_of_a_reply(void) {
  int socket = open_channel();
  int room = 4096;
  CHECK(setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &room, sizeof room) == 0);
  int64_t first[ROWS];
  for (int64_t i = 0; i < ROWS; i++) {
    first[i] = ROWS - 1 - i;
  }
  struct request request = request_for(ROWS, first, NULL);
  post_request(request);
  version = 12;
  serves(0, DDS_ROWS_REQUEST);
  CHECK(event.sent > 0 && event.sent < request.bytes && event.version == 12);
  CHECK(dds_row_server_pause(server, channel) == 0);
  int64_t sent = event.sent;
  post_request(request_for(2, first, NULL));
  serves(0, DDS_ROWS_NONE);

  static uint8_t reply[ROWS * RECORD + 2 * END];
  take(reply, (size_t)sent);
  is_end(reply, 0, 1);
  for (int64_t i = END; i < sent; i++) {
    int64_t at = i - END;
    CHECK(reply[i] == byte_of(first[at / RECORD], at % RECORD));
  }
  is_empty();
  CHECK(dds_row_server_resume(server, channel) == 0);
  serves(1, DDS_ROWS_NONE);
  gets_reply(request_for(2, first, NULL), 0);

  /* A request behind the one that was left waits until the reply is complete. */
  uint8_t small[200];
  struct request two = request_for(2, first, NULL);
  size_t bytes = encode(&two, small);
  post_request(request);
  post(small, bytes);
  serves(0, DDS_ROWS_REQUEST);
  CHECK(dds_row_server_pause(server, channel) == 0);
  serves(0, DDS_ROWS_NONE);
  CHECK(dds_row_server_resume(server, channel) == 0);
  close_channel(socket); /* while it is queued */
  serves(0, DDS_ROWS_NONE);
}

static void waits_for_java(void) {
  uint64_t one = 1;
  CHECK(dds_row_server_serve(server, 1, 1, SHORT_NS, &event) == 0 && event.kind == DDS_ROWS_NONE && !event.selector);
  CHECK(write(wakeup, &one, sizeof one) == sizeof one);
  CHECK(dds_row_server_serve(server, -1, 1, SHORT_NS, &event) == 0 && event.kind == DDS_ROWS_NONE && event.selector);
  CHECK(dds_row_server_serve(server, -1, 1, SHORT_NS, &event) == 0 && event.selector); /* until Java has seen it */
  CHECK(read(wakeup, &one, sizeof one) == sizeof one);
  serves(0, DDS_ROWS_NONE);
}

static void *remove_rows(void *done) {
  dds_rows_remove(rows, nonce);
  __atomic_store_n((int *)done, 1, __ATOMIC_SEQ_CST);
  return NULL;
}

static void removal_waits_for_users(void) {
  int socket = open_channel();
  int done = 0;
  pthread_t remover;
  struct dds_served_segment *used = dds_rows_find(rows, nonce);
  CHECK(used != NULL);
  CHECK(pthread_create(&remover, NULL, remove_rows, &done) == 0);
  struct dds_served_segment *found = used;
  while (found != NULL) { /* until the removal has begun */
    found = dds_rows_find(rows, nonce);
    if (found != NULL) {
      dds_rows_end_use(rows, found);
    }
  }
  usleep(20000);
  CHECK(!__atomic_load_n(&done, __ATOMIC_SEQ_CST));
  dds_rows_end_use(rows, used);
  CHECK(pthread_join(remover, NULL) == 0 && done);
  const int64_t first[] = {5};
  leaves(request_for(1, first, NULL));
  dds_rows_remove(rows, nonce);
  close_channel(socket);
}

int main(void) {
  open_all();
  answers_rows_and_runs();
  answers_parts_and_many();
  lets_channels_take_turns();
  lets_channels_take_turns_with_java();
  forgets_queued_channels();
  waits_again_after_short_waits();
  leaves_others_to_java();
  refuses_illegal_sizes();
  tells_that_the_peer_ended();
  leaves_the_rest_of_a_reply();
  waits_for_java();
  removal_waits_for_users();
  int socket = open_channel();
  dds_rows_release(rows); /* the channel has a reference */
  dds_row_server_close(server);
  close(socket);
  close(peer);
  close(selector);
  close(wakeup);
  return 0;
}
