// SPDX-License-Identifier: Apache-2.0
/*
 * Hostile requests to a server of rows, and hostile replies to a receiver: a channel is served, waits for more or is to
 * be closed, and no byte outside of rows and parts is touched. The target has the form of libFuzzer, for DDS_FUZZ in
 * CMakeLists.txt; otherwise main reads the inputs in the files that are its arguments, and then changes the requests
 * below at random for the seconds of DDS_FUZZ_SECONDS, 1 by default, from the seed of DDS_FUZZ_SEED.
 */
#include <endian.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "reply_receiver.h"
#include "row_reply.h"
#include "row_server.h"

#define ROWS 40
#define RECORD 12
#define SHIFT 3
#define MOST_INPUT 4096
#define INPUT (64 << 10)
#define PART 64
#define SHORT_NS INT64_C(1000000000)

static struct dds_row_server *server;
static struct dds_served_rows *rows;
static struct dds_reply_receiver *receiver;
static int selector;
static uint8_t input[INPUT];
static uint8_t packed[DDS_LEAST_PACKED];
static uint64_t version = 8;

/* Numbers of requests that were answered, and of replies that arrived whole. */
static int64_t answered_requests;
static int64_t whole_replies;

/* Memory of its own for each chunk, so that a sanitizer sees the first byte outside. */
static int64_t own(size_t bytes) {
  uint8_t *memory = calloc(1, bytes);
  CHECK(memory != NULL);
  return (int64_t)(intptr_t)memory;
}

static void add_fixed(void) {
  int64_t chunks[ROWS >> SHIFT];
  for (size_t c = 0; c < ROWS >> SHIFT; c++) {
    chunks[c] = own((1 << SHIFT) * RECORD);
  }
  struct dds_served_segment segment = {.nonce = {1},
                                       .version = &version,
                                       .rows = ROWS,
                                       .record_bytes = RECORD,
                                       .row_shift = SHIFT,
                                       .chunk_count = ROWS >> SHIFT,
                                       .chunks = chunks};
  CHECK(dds_rows_add(rows, &segment) == 0);
  for (size_t c = 0; c < ROWS >> SHIFT; c++) {
    CHECK(chunks[c] != 0);
  }
}

static void add_ragged(void) {
  static int64_t offsets[ROWS + 1];
  for (int64_t row = 0; row < ROWS; row++) {
    offsets[row + 1] = offsets[row] + 4 + row % 9;
  }
  int64_t starts[] = {0, offsets[ROWS / 2], offsets[ROWS]};
  int64_t chunks[] = {own((size_t)starts[1]), own((size_t)(starts[2] - starts[1]))};
  int64_t entries[] = {(int64_t)(intptr_t)offsets};
  struct dds_served_segment segment = {.nonce = {2},
                                       .version = &version,
                                       .rows = ROWS,
                                       .entry_shift = 20,
                                       .chunk_count = 2,
                                       .entry_count = 1,
                                       .chunks = chunks,
                                       .chunk_starts = starts,
                                       .entries = entries};
  CHECK(dds_rows_add(rows, &segment) == 0);
}

static void open_all(void) {
  selector = epoll_create1(EPOLL_CLOEXEC);
  rows = dds_rows_open();
  CHECK(selector >= 0 && rows != NULL);
  CHECK(dds_row_server_open(selector, input, INPUT, packed, sizeof packed, &server) == 0);
  CHECK(dds_reply_receiver_open(selector, &receiver) == 0);
  add_fixed();
  add_ragged();
}

/* Takes what has arrived at a socket, and forgets it. */
static void drain(int socket) {
  static uint8_t forgotten[1 << 16];
  while (recv(socket, forgotten, sizeof forgotten, 0) > 0) {
  }
}

/* Serves a channel whose peer sends some bytes. */
static void serve(const uint8_t *bytes, size_t count) {
  int ends[2];
  int64_t counts[DDS_COUNTS] = {0};
  CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
  struct dds_row_channel *channel = dds_row_server_add(server, ends[0], rows, counts);
  CHECK(channel != NULL && send(ends[1], bytes, count, MSG_NOSIGNAL) == (ssize_t)count);
  struct dds_row_event event = {0};
  for (int answered = 1; answered > 0 && event.kind == DDS_ROWS_NONE; drain(ends[1])) {
    answered = dds_row_server_serve(server, 0, 1, SHORT_NS, &event);
    CHECK(answered >= 0 && (event.kind == DDS_ROWS_NONE || event.channel == channel));
  }
  answered_requests += counts[DDS_COUNT_REQUESTS];
  dds_row_server_remove(server, channel);
  close(ends[0]);
  close(ends[1]);
}

/* Receives a reply into parts whose sizes are the first three bytes. */
static void receive(const uint8_t *bytes, size_t count) {
  int ends[2];
  if (count < DDS_REPLY_PARTS) {
    return;
  }
  CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
  struct dds_reply_channel *channel = dds_reply_receiver_add(receiver, ends[0], 7);
  struct iovec parts[DDS_REPLY_PARTS];
  size_t room = 0;
  for (int p = 0; p < DDS_REPLY_PARTS; p++) {
    size_t size = bytes[p] % (PART + 1);
    parts[p] = (struct iovec){.iov_base = malloc(size + (size == 0)), .iov_len = size};
    CHECK(parts[p].iov_base != NULL);
    room += size;
  }
  CHECK(channel != NULL && send(ends[1], bytes + DDS_REPLY_PARTS, count - DDS_REPLY_PARTS, MSG_NOSIGNAL) >= 0);
  dds_reply_receiver_expect(receiver, channel, parts, 1);
  struct dds_arrival arrival = {0};
  struct dds_receipt receipt;
  int arrivals = dds_reply_receiver_receive(receiver, 0, 1, SHORT_NS, &arrival, 1, &receipt);
  CHECK(arrivals == 0 || (arrivals == 1 && arrival.number == 7 && arrival.bytes >= 0 && (size_t)arrival.bytes <= room));
  whole_replies += arrivals == 1 && arrival.kind == DDS_ARRIVED_WHOLE;
  dds_reply_receiver_remove(receiver, channel);
  for (int p = 0; p < DDS_REPLY_PARTS; p++) {
    free(parts[p].iov_base);
  }
  close(ends[0]);
  close(ends[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (server == NULL) {
    open_all();
  }
  if (size > 1 && size <= MOST_INPUT) {
    (data[0] % 2 == 0 ? serve : receive)(data + 1, size - 1);
  }
  return 0;
}

#ifndef DDS_LIBFUZZER
static int64_t number_of(const char *name, int64_t otherwise) {
  const char *text = getenv(name);
  return text == NULL || *text == '\0' ? otherwise : strtoll(text, NULL, 10);
}

static uint8_t *put(uint8_t *to, uint64_t value, int bytes) {
  for (int b = bytes - 1; b >= 0; b--) {
    *to++ = (uint8_t)(value >> 8 * b);
  }
  return to;
}

/* Makes a request for runs of one segment, with some bytes changed or cut; or a reply. */
static size_t make_input(uint8_t *bytes, unsigned *seed) {
  if (rand_r(seed) % 4 == 0) {
    size_t count = 4 + (size_t)(rand_r(seed) % 200);
    for (size_t i = 1; i < count; i++) {
      bytes[i] = (uint8_t)(i == 4 && rand_r(seed) % 2 ? 0 : rand_r(seed));
    }
    bytes[0] = 1;
    return count;
  }
  unsigned runs = 1 + (unsigned)rand_r(seed) % 3;
  unsigned each = 1 + (unsigned)rand_r(seed) % 2;
  uint8_t *to = put(bytes + 5, (uint64_t)(rand_r(seed) % 2), 1);
  to = put(put(put(to, (uint64_t)rand_r(seed) % 5, 4), (uint64_t)rand_r(seed) % 50, 4), 1, 4);
  *to = (uint8_t)(1 + rand_r(seed) % 2);
  memset(to + 1, 0, DDS_NONCE_BYTES - 1);
  to = put(put(to + DDS_NONCE_BYTES, runs, 4), (uint64_t)runs * each, 4);
  for (unsigned r = 0; r < runs; r++) {
    to = put(to, (uint64_t)rand_r(seed) % (ROWS - 1), 8);
  }
  for (unsigned r = 0; each > 1 && r < runs; r++) {
    to = put(to, each, 4);
  }
  size_t count = (size_t)(to - bytes);
  bytes[0] = 0;
  put(bytes + 1, count - 5, 4);
  for (int change = rand_r(seed) % 4; change > 0; change--) {
    bytes[1 + (size_t)rand_r(seed) % (count - 1)] ^= (uint8_t)(1 << rand_r(seed) % 8);
  }
  return rand_r(seed) % 8 == 0 ? 1 + (size_t)rand_r(seed) % count : count;
}

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

int main(int count, char **names) {
  static uint8_t bytes[MOST_INPUT];
  for (int i = 1; i < count; i++) {
    int file = open(names[i], O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? -1 : read(file, bytes, sizeof bytes);
    CHECK(size >= 0 && close(file) == 0);
    LLVMFuzzerTestOneInput(bytes, (size_t)size);
  }
  unsigned seed = (unsigned)number_of("DDS_FUZZ_SEED", 1);
  int64_t end = now_ms() + 1000 * number_of("DDS_FUZZ_SECONDS", 1);
  int64_t inputs = 0;
  for (; now_ms() < end; inputs++) {
    LLVMFuzzerTestOneInput(bytes, make_input(bytes, &seed));
  }
  printf("%" PRId64 " inputs, %" PRId64 " requests answered, %" PRId64 " whole replies\n", inputs, answered_requests,
         whole_replies);
  CHECK(answered_requests > 0 && whole_replies > 0);
  return 0;
}
#endif
