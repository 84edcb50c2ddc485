// SPDX-License-Identifier: Apache-2.0
#include "row_server.h"

#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "row_reply.h"

#define RECORD 40
#define SHIFT 5
#define ROWS 5000
#define CHUNKS ((ROWS >> SHIFT) + 1)
#define END 64
#define INPUT (400 << 10)
#define SHORT_NS INT64_C(1000000000)

static const uint8_t nonce[DDS_NONCE_BYTES] = {7, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static const uint8_t other[DDS_NONCE_BYTES] = {7, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 99};
static const uint8_t ragged_nonce[DDS_NONCE_BYTES] = {7, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 98};

static uint8_t memory[CHUNKS][(1 << SHIFT) * RECORD];
static uint64_t version = 8;
static uint8_t input[INPUT];
static uint8_t packed[DDS_LEAST_PACKED];

/* Ragged records: a few are longer than what is sent without a copy. */
#define RAGGED_ROWS 700
#define RAGGED_CHUNKS 3
#define ENTRY_SHIFT 6
#define ENTRY_PARTS ((RAGGED_ROWS >> ENTRY_SHIFT) + 1)

static uint64_t ragged_version = 20;
static int64_t offsets[RAGGED_ROWS + 1];
static uint8_t *streams[RAGGED_CHUNKS];

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

static int64_t ragged_bytes(int64_t row) {
  return row % 97 == 96 ? 40000 : row * 37 % 50; /* 0 to 49 */
}

static void add_ragged(void) {
  int64_t chunks[RAGGED_CHUNKS];
  int64_t starts[RAGGED_CHUNKS + 1];
  int64_t entries[ENTRY_PARTS];
  for (int64_t row = 0; row < RAGGED_ROWS; row++) {
    offsets[row + 1] = offsets[row] + ragged_bytes(row);
  }
  for (int64_t c = 0; c < RAGGED_CHUNKS; c++) {
    int64_t first = c * RAGGED_ROWS / RAGGED_CHUNKS;
    int64_t end = (c + 1) * RAGGED_ROWS / RAGGED_CHUNKS;
    starts[c] = offsets[first];
    starts[c + 1] = offsets[end];
    free(streams[c]);
    streams[c] = malloc((size_t)(starts[c + 1] - starts[c]));
    CHECK(streams[c] != NULL);
    chunks[c] = (int64_t)(intptr_t)streams[c];
    for (int64_t row = first; row < end; row++) {
      for (int64_t i = 0; i < ragged_bytes(row); i++) {
        streams[c][offsets[row] - starts[c] + i] = byte_of(row, i);
      }
    }
  }
  for (int64_t e = 0; e < ENTRY_PARTS; e++) {
    entries[e] = (int64_t)(intptr_t)(offsets + (e << ENTRY_SHIFT));
  }
  struct dds_served_segment segment = {.version = &ragged_version,
                                       .rows = RAGGED_ROWS,
                                       .entry_shift = ENTRY_SHIFT,
                                       .chunk_count = RAGGED_CHUNKS,
                                       .entry_count = ENTRY_PARTS,
                                       .chunks = chunks,
                                       .chunk_starts = starts,
                                       .entries = entries};
  memcpy(segment.nonce, ragged_nonce, sizeof ragged_nonce);
  CHECK(dds_rows_add(rows, &segment) == 0);
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
  struct dds_served_segment segment = {.version = &version,
                                       .rows = ROWS,
                                       .record_bytes = RECORD,
                                       .row_shift = SHIFT,
                                       .chunk_count = CHUNKS,
                                       .chunks = chunks};
  memcpy(segment.nonce, nonce, sizeof nonce);
  rows = dds_rows_open();
  CHECK(rows != NULL);
  CHECK(dds_rows_add(rows, &segment) == 0);
  CHECK(dds_rows_add(rows, &segment) == 0); /* no effect */
  segment.record_bytes = -1;
  CHECK(dds_rows_add(rows, &segment) == -EINVAL);
  add_ragged();

  selector = epoll_create1(0);
  wakeup = eventfd(0, EFD_NONBLOCK);
  struct epoll_event watched = {.events = EPOLLIN};
  CHECK(selector >= 0 && wakeup >= 0 && epoll_ctl(selector, EPOLL_CTL_ADD, wakeup, &watched) == 0);
  CHECK(dds_row_server_open(selector, input, 4, packed, sizeof packed, &server) == -EINVAL);
  CHECK(dds_row_server_open(selector, input, INPUT, packed, sizeof packed, &server) == 0);
}

/* What a server counts, and what the replies of make_reply have. */
static int64_t reads[DDS_COUNTS];
static int64_t expected_reads[DDS_COUNTS];

static int open_channel(void) {
  int ends[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
  channel = dds_row_server_add(server, ends[0], rows, reads);
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

/* A request, in the fields of GatherRequest.java, or its part for another segment. */
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
  const struct request *next; /* for another segment */
};

static int64_t rows_of_run(const struct request *request, int64_t run) {
  return request->counts == NULL ? 1 : request->counts[run];
}

static int64_t bytes_of(const struct request *request, int64_t row) {
  return request->nonce == ragged_nonce ? ragged_bytes(row) : RECORD;
}

static struct request request_in(const uint8_t *segment, int64_t runs, const int64_t *first, const int64_t *counts) {
  struct request request = {0, 0, 0, 1, segment, runs, 0, first, counts, NULL};
  for (int64_t r = 0; r < runs; r++) {
    request.rows += rows_of_run(&request, r);
    for (int64_t i = 0; i < rows_of_run(&request, r); i++) {
      request.bytes += bytes_of(&request, first[r] + i);
    }
  }
  return request;
}

static struct request request_for(int64_t runs, const int64_t *first, const int64_t *counts) {
  return request_in(nonce, runs, first, counts);
}

static size_t encode(const struct request *request, uint8_t *frame) {
  uint8_t *to = frame + 4;
  *to++ = (uint8_t)request->lengths;
  to = put_int(put_int(put_int(to, request->skip), request->bytes), request->segments);
  for (const struct request *part = request; part != NULL; part = part->next) {
    memcpy(to, part->nonce, DDS_NONCE_BYTES);
    to = put_int(put_int(to + DDS_NONCE_BYTES, part->runs), part->rows);
    for (int64_t r = 0; r < part->runs; r++) {
      to = put_long(to, part->first[r]);
    }
    for (int64_t r = 0; part->counts != NULL && r < part->runs; r++) {
      to = put_int(to, part->counts[r]);
    }
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

static uint8_t *pad(uint8_t *from, uint8_t *to) {
  while ((to - from) % END != 0) {
    *to++ = 0;
  }
  return to;
}

/* Writes the reply to a request, as its format says; returns its size. */
static size_t make_reply(const struct request *request, uint8_t status, uint8_t *reply) {
  uint8_t *to = reply;
  expected_reads[DDS_COUNT_REQUESTS]++;
  *to++ = 0;
  for (const struct request *part = request; request->lengths && part != NULL; part = part->next) {
    for (int64_t r = 0; r < part->runs; r++) {
      for (int64_t i = 0; i < rows_of_run(part, r); i++) {
        to = put_int(to, bytes_of(part, part->first[r] + i));
      }
    }
  }
  to = pad(reply, to);
  int64_t skip = request->skip;
  int64_t left = request->bytes;
  expected_reads[DDS_COUNT_ROWS] -= skip > 0;
  expected_reads[DDS_COUNT_BYTES] += left;
  for (const struct request *part = request; part != NULL; part = part->next) {
    for (int64_t r = 0; r < part->runs; r++) {
      for (int64_t i = 0; i < rows_of_run(part, r); i++) {
        int64_t row = part->first[r] + i;
        expected_reads[DDS_COUNT_ROWS] += left > 0;
        for (int64_t b = 0; b < bytes_of(part, row); b++) {
          if (skip > 0) {
            skip--;
          } else if (left > 0) {
            left--;
            *to++ = byte_of(row, b);
          }
        }
      }
    }
  }
  uint8_t *tail = to;
  *to++ = status;
  for (const struct request *part = request; part != NULL; part = part->next) {
    to = put_long(to, (int64_t)(part->nonce == ragged_nonce ? ragged_version : version));
  }
  return (size_t)(pad(tail, to) - reply);
}

static void gets_reply(struct request request, uint8_t status) {
  static uint8_t reply[1 << 20];
  static uint8_t expected[1 << 20];
  size_t bytes = make_reply(&request, status, expected);
  take(reply, bytes);
  CHECK(memcmp(reply, expected, bytes) == 0);
}

static void serves(int answered, enum dds_row_event_kind kind) {
  CHECK(dds_row_server_serve(server, 0, 1, SHORT_NS, &event) == answered);
  CHECK(event.kind == kind);
  CHECK(kind == DDS_ROWS_NONE || event.channel == channel);
  CHECK(!event.selector);
}

/* Checks the reply to a request, which can be larger than the buffer of the socket. */
static void answers(struct request request, uint8_t status) {
  static uint8_t reply[1 << 20];
  static uint8_t expected[1 << 20];
  size_t bytes = make_reply(&request, status, expected);
  int answered = 0;
  post_request(request);
  for (size_t got = 0; got < bytes || answered == 0;) {
    answered += dds_row_server_serve(server, 0, 1, SHORT_NS, &event);
    CHECK(event.kind == DDS_ROWS_NONE);
    ssize_t some = got < bytes ? read(peer, reply + got, bytes - got) : 0;
    CHECK(some >= 0);
    got += (size_t)some;
  }
  CHECK(answered == 1 && memcmp(reply, expected, bytes) == 0);
}

static void answers_rows_and_runs(void) {
  int socket = open_channel();
  int64_t first[ROWS];
  for (int64_t i = 0; i < ROWS; i++) {
    first[i] = (i * 787 + 11) % ROWS;
  }
  const int64_t runs[] = {0, 4999, 30, 33, 100};
  const int64_t counts[] = {1, 1, 3, 31, 4900};
  int64_t before = dds_rows_counted(rows);
  for (int64_t count = 1; count <= ROWS; count += 555) { /* the larger ones need several windows */
    answers(request_for(count, first, NULL), 0);
  }
  answers(request_for(5, runs, counts), 0);
  CHECK(dds_rows_counted(rows) == before + 11);

  version = 9;
  answers(request_for(3, first, NULL), 1);
  version = 10;
  is_empty();
  serves(0, DDS_ROWS_NONE);
  close_channel(socket);
}

/* Lengths, parts of records, ragged records and several segments. */
static void answers_every_kind_of_request(void) {
  int socket = open_channel();
  memset(reads, 0, sizeof reads);
  memset(expected_reads, 0, sizeof expected_reads);
  const int64_t rows_of_ragged[] = {0, 3, 96, 233, 232, 699, 500, 290};
  const int64_t runs[] = {90, 0, 233, 1};
  const int64_t counts[] = {10, 700, 400, 1};
  const int64_t fixed[] = {4999, 0, 31, 32};
  for (int lengths = 0; lengths < 2; lengths++) {
    struct request request = request_in(ragged_nonce, 8, rows_of_ragged, NULL);
    request.lengths = lengths;
    answers(request, 0);

    request = request_in(ragged_nonce, 4, runs, counts); /* some pieces are sent without a copy */
    request.lengths = lengths;
    answers(request, 0);
    for (int64_t skip = 0; skip <= ragged_bytes(90); skip += 5) {
      struct request part = request;
      part.skip = skip;
      part.bytes = request.bytes - 2 * skip;
      answers(part, 0);
    }

    struct request second = request_for(4, fixed, NULL);
    struct request third = request_in(ragged_nonce, 8, rows_of_ragged, NULL);
    second.next = &third;
    request.next = &second;
    request.segments = 3;
    request.bytes += second.bytes + third.bytes;
    answers(request, 0);
    ragged_version = 21;
    answers(request, 1);
    ragged_version = 22;
  }
  struct request none = request_for(4, fixed, NULL);
  none.lengths = 1;
  none.bytes = 0;
  answers(none, 0);
  none.bytes = 1 << 20; /* with lengths, at most what there is */
  post_request(none);
  serves(1, DDS_ROWS_NONE);
  none.bytes = 4 * RECORD;
  gets_reply(none, 0);
  CHECK(memcmp(reads, expected_reads, sizeof reads) == 0);
  is_empty();
  close_channel(socket);
}

/* A request for more segments than there is room for on the stack. */
static void answers_many_segments(void) {
  int socket = open_channel();
  static struct request parts[1000];
  const int64_t first[] = {7};
  for (size_t p = 0; p < 1000; p++) {
    parts[p] = p % 2 == 0 ? request_for(1, first, NULL) : request_in(ragged_nonce, 1, first, NULL);
    parts[p].next = p + 1 < 1000 ? &parts[p + 1] : NULL;
  }
  parts[0].segments = 1000;
  parts[0].bytes = 500 * (RECORD + ragged_bytes(7));
  answers(parts[0], 0);
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

/* Channels that are removed while others are queued before and behind them. */
static void forgets_queued_channels(void) {
  const int64_t first[] = {5};
  struct request request = request_for(1, first, NULL);
  uint8_t frame[200];
  size_t bytes = encode(&request, frame);
  for (int which = 0; which < 3; which++) {
    struct ends all[3];
    for (int i = 0; i < 3; i++) {
      all[i] = open_another();
      for (int r = 0; r < 5; r++) {
        post(frame, bytes);
      }
    }
    CHECK(dds_row_server_serve(server, 0, 1, SHORT_NS, &event) == 3 * 4);
    dds_row_server_remove(server, all[which].channel);
    CHECK(dds_row_server_serve(server, 0, 1, SHORT_NS, &event) == 2);
    for (int i = 0; i < 3; i++) {
      CHECK(write(all[i].peer, frame, bytes) == (ssize_t)bytes);
    }
    CHECK(dds_row_server_serve(server, 0, 1, SHORT_NS, &event) == 2);
    for (int i = 0; i < 3; i++) {
      use(all[i]);
      for (int r = 0; r < (i == which ? 4 : 6); r++) {
        gets_reply(request, 0);
      }
      if (i != which) {
        dds_row_server_remove(server, channel);
      }
      close(all[i].socket);
      close(peer);
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
  request.skip = -1;
  post_request(request);
  CHECK(dds_row_server_serve(server, 1000, 3, SHORT_NS, &event) == 0 && event.short_waits == 1);
  CHECK(event.kind == DDS_ROWS_ILLEGAL);
  close_channel(socket);
}

static void refuses(struct request request, enum dds_row_event_kind kind) {
  int socket = open_channel();
  post_request(request);
  serves(0, kind);
  is_empty();
  close_channel(socket);
}

static void refuses_illegal_requests(void) {
  const int64_t first[] = {5, 1234, 77};
  const int64_t counts[] = {1, 2, 1};
  const int64_t wrong[][3] = {{-1, 1, 2}, {1, ROWS, 2}, {INT64_MIN, 1, 2}, {1, INT64_MAX, 2}};
  const int64_t wrong_counts[][3] = {{0, 2, 1}, {1, -1, 3}, {1, ROWS, 1}, {1, INT32_MAX, 1}};
  struct request good = request_for(3, first, NULL);
  struct request bad = good;
  bad = good, bad.skip = 1;
  refuses(bad, DDS_ROWS_ILLEGAL);
  bad = good, bad.skip = RECORD + 1, bad.bytes = 1;
  refuses(bad, DDS_ROWS_ILLEGAL);
  bad = good, bad.skip = -1;
  refuses(bad, DDS_ROWS_ILLEGAL);
  bad = good, bad.bytes++;
  refuses(bad, DDS_ROWS_ILLEGAL);
  bad = good, bad.bytes = -1;
  refuses(bad, DDS_ROWS_ILLEGAL);
  bad = good, bad.bytes = (1 << 20) + 1, bad.lengths = 1;
  refuses(bad, DDS_ROWS_ILLEGAL);
  for (int64_t segments = -1; segments < 3; segments++) {
    bad = good, bad.segments = segments;
    if (segments != 1) {
      refuses(bad, DDS_ROWS_ILLEGAL);
    }
  }
  bad = good, bad.rows = 4;
  refuses(bad, DDS_ROWS_TRUNCATED); /* counts of rows are missing */
  bad = good, bad.runs = 2, bad.rows = 2, bad.bytes = 2 * RECORD;
  struct request more = bad;
  bad.next = &more; /* bytes behind the request */
  refuses(bad, DDS_ROWS_ILLEGAL);
  for (size_t i = 0; i < 4; i++) {
    struct request outside = good;
    outside.first = wrong[i];
    refuses(outside, DDS_ROWS_ILLEGAL);
    bad = good, bad.counts = wrong_counts[i], bad.rows = 4;
    refuses(bad, DDS_ROWS_ILLEGAL);
  }
  bad = request_for(3, first, counts);
  bad.rows = 5;
  refuses(bad, DDS_ROWS_ILLEGAL);
  static int64_t many[(16 << 10) + 1];
  refuses(request_for((16 << 10) + 1, many, NULL), DDS_ROWS_ILLEGAL);

  /* Every beginning of a request. */
  uint8_t frame[600];
  size_t bytes = encode(&good, frame);
  for (size_t length = 1; length < bytes - 4; length++) {
    int socket = open_channel();
    put_int(frame, (int64_t)length);
    post(frame, 4 + length);
    CHECK(dds_row_server_serve(server, 0, 1, SHORT_NS, &event) == 0);
    CHECK(event.kind == DDS_ROWS_TRUNCATED || event.kind == DDS_ROWS_ILLEGAL);
    close_channel(socket);
  }

  /* Offsets that lead out of the segment. */
  const int64_t ragged[] = {10, 300};
  int64_t right = offsets[11];
  const int64_t damaged[] = {INT64_MIN, -1, offsets[10] - 1, offsets[RAGGED_ROWS] + 1, INT64_MAX};
  struct request request = request_in(ragged_nonce, 2, ragged, NULL);
  for (size_t d = 0; d < sizeof damaged / sizeof damaged[0]; d++) {
    offsets[11] = damaged[d];
    refuses(request, DDS_ROWS_DAMAGED);
  }
  offsets[11] = right;

  /* A segment that is not there is no mistake of the peer: others can be read. */
  int socket = open_channel();
  bad = good, bad.nonce = other;
  post_request(bad);
  serves(1, DDS_ROWS_NONE);
  uint8_t status;
  take(&status, 1);
  CHECK(status == 2);
  answers(good, 0);
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
    serves(0, DDS_ROWS_SIZE);
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

/* A peer that receives slowly gets the rest of a reply before anything else is answered. */
static void continues_a_reply(void) {
  int64_t first[ROWS];
  for (int64_t i = 0; i < ROWS; i++) {
    first[i] = ROWS - 1 - i;
  }
  const int64_t runs[] = {90, 0, 233, 1};
  const int64_t counts[] = {10, 700, 400, 1};
  struct request ragged = request_in(ragged_nonce, 4, runs, counts);
  ragged.lengths = 1;
  ragged.skip = 7;
  ragged.bytes -= 9;
  const struct request requests[] = {request_for(ROWS, first, NULL), ragged};
  static uint8_t expected[1 << 20];
  static uint8_t reply[1 << 20];
  for (size_t i = 0; i < 2; i++) {
    int socket = open_channel();
    int room = 4096;
    CHECK(setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &room, sizeof room) == 0);
    struct request small = request_for(2, first, NULL);
    post_request(requests[i]);
    post_request(small);
    size_t bytes = make_reply(&requests[i], 0, expected);
    size_t got = 0;
    int answered = 0;
    while (got < bytes) {
      int more = dds_row_server_serve(server, 0, 1, SHORT_NS, &event);
      CHECK(more >= 0 && event.kind == DDS_ROWS_NONE);
      answered += more;
      ssize_t some = read(peer, reply + got, bytes - got < 1500 ? bytes - got : 1500);
      CHECK(some > 0);
      got += (size_t)some;
    }
    CHECK(memcmp(reply, expected, bytes) == 0);
    while (answered < 2) {
      answered += dds_row_server_serve(server, 0, 1, SHORT_NS, &event);
      CHECK(event.kind == DDS_ROWS_NONE);
    }
    gets_reply(small, 0);
    is_empty();
    close_channel(socket);
  }

  /* Rows that change meanwhile, a segment that is removed, a peer that ends, and a channel that is removed. */
  for (int what = 0; what < 4; what++) {
    int socket = open_channel();
    int room = 4096;
    CHECK(setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &room, sizeof room) == 0);
    struct request request = what == 1 ? ragged : requests[0];
    post_request(request);
    serves(0, DDS_ROWS_NONE);
    if (what == 0) {
      size_t bytes = make_reply(&request, 1, expected);
      version += 2;
      for (size_t got = 0; got < bytes;) {
        ssize_t some = read(peer, reply + got, bytes - got);
        CHECK(some > 0 || errno == EAGAIN);
        got += some > 0 ? (size_t)some : 0;
        CHECK(dds_row_server_serve(server, 0, 1, SHORT_NS, &event) >= 0 && event.kind == DDS_ROWS_NONE);
      }
      CHECK(memcmp(reply, expected, bytes) == 0);
    } else if (what == 1) {
      dds_rows_remove(rows, ragged_nonce);
      CHECK(read(peer, reply, sizeof reply) > 0);
      serves(0, DDS_ROWS_ENDED);
      add_ragged(); /* in other memory */
    } else if (what == 2) {
      close(peer);
      serves(0, DDS_ROWS_ENDED);
      peer = -1;
    }
    dds_row_server_remove(server, channel);
    close(socket);
    close(peer);
  }
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
  post_request(request_for(1, first, NULL));
  serves(1, DDS_ROWS_NONE);
  uint8_t status;
  take(&status, 1);
  CHECK(status == 2);
  dds_rows_remove(rows, nonce);
  close_channel(socket);
}

int main(void) {
  open_all();
  answers_rows_and_runs();
  answers_every_kind_of_request();
  answers_many_segments();
  answers_parts_and_many();
  lets_channels_take_turns();
  forgets_queued_channels();
  waits_again_after_short_waits();
  refuses_illegal_requests();
  refuses_illegal_sizes();
  tells_that_the_peer_ended();
  continues_a_reply();
  waits_for_java();
  removal_waits_for_users();
  int socket = open_channel();
  dds_rows_release(rows); /* the channel has a reference */
  dds_row_server_close(server);
  for (size_t c = 0; c < RAGGED_CHUNKS; c++) {
    free(streams[c]);
  }
  close(socket);
  close(peer);
  close(selector);
  close(wakeup);
  return 0;
}
