// SPDX-License-Identifier: Apache-2.0
#include "reply_receiver.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"

#define HEAD 64
#define DATA 1000
#define TAIL 64
#define WHOLE (HEAD + DATA + TAIL)
#define MOST 4
#define SHORT_NS INT64_C(1000000000)
#define LONG_MS 20000

/* A channel with memory for its reply. */
struct ends {
  int socket;
  int peer;
  struct dds_reply_channel *channel;
  uint8_t head[HEAD];
  uint8_t data[DATA];
  uint8_t tail[TAIL];
};

static struct dds_reply_receiver *receiver;
static int selector;
static int wakeup;
static struct dds_arrival arrivals[MOST];
static struct dds_receipt receipt;
static uint8_t reply[WHOLE];

static void open_all(void) {
  selector = epoll_create1(0);
  wakeup = eventfd(0, EFD_NONBLOCK);
  struct epoll_event watched = {.events = EPOLLIN};
  CHECK(selector >= 0 && wakeup >= 0 && epoll_ctl(selector, EPOLL_CTL_ADD, wakeup, &watched) == 0);
  CHECK(dds_reply_receiver_open(99999, &receiver) == -EBADF);
  CHECK(dds_reply_receiver_open(selector, &receiver) == 0);
  for (int i = 1; i < WHOLE; i++) {
    reply[i] = (uint8_t)(i * 7);
  }
}

static void open_channel(struct ends *ends, int64_t number) {
  int sockets[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets) == 0);
  memset(ends, 0, sizeof *ends);
  ends->socket = sockets[0];
  ends->peer = sockets[1];
  ends->channel = dds_reply_receiver_add(receiver, ends->socket, number);
  CHECK(ends->channel != NULL);
}

static void close_channel(struct ends *ends) {
  dds_reply_receiver_remove(receiver, ends->channel);
  close(ends->socket);
  close(ends->peer);
}

static void expect(struct ends *ends, int more) {
  memset(ends->head, 1, HEAD);
  memset(ends->data, 1, DATA);
  memset(ends->tail, 1, TAIL);
  const struct iovec parts[DDS_REPLY_PARTS] = {{ends->head, HEAD}, {ends->data, DATA}, {ends->tail, TAIL}};
  dds_reply_receiver_expect(receiver, ends->channel, parts, more);
}

static void send_part(const struct ends *ends, int from, int to) {
  CHECK(write(ends->peer, reply + from, (size_t)(to - from)) == to - from);
}

static int receive(int timeout_ms, int most_waits) {
  return dds_reply_receiver_receive(receiver, timeout_ms, most_waits, SHORT_NS, arrivals, MOST, &receipt);
}

static int is(const struct dds_arrival *arrival, int64_t number, enum dds_arrival_kind kind, int64_t bytes) {
  return arrival->number == number && arrival->kind == kind && arrival->bytes == bytes;
}

static void check_reply(const struct ends *ends) {
  CHECK(memcmp(ends->head, reply, HEAD) == 0);
  CHECK(memcmp(ends->data, reply + HEAD, DATA) == 0);
  CHECK(memcmp(ends->tail, reply + HEAD + DATA, TAIL) == 0);
}

/* A reply that arrives in two parts, which end at each of its bytes. */
static void test_parts(void) {
  struct ends ends;
  open_channel(&ends, 5);
  CHECK(receive(0, 1) == 0);
  for (int end = 1; end < WHOLE; end++) {
    expect(&ends, 0);
    send_part(&ends, 0, end);
    CHECK(receive(0, 1) == 1 && is(arrivals, 5, DDS_ARRIVED_PART, end));
    CHECK(receive(0, 1) == 0);
    send_part(&ends, end, WHOLE);
    CHECK(receive(LONG_MS, 1) == 1 && is(arrivals, 5, DDS_ARRIVED_WHOLE, WHOLE));
    CHECK(receipt.short_waits == 1 && !receipt.selector);
    check_reply(&ends);
  }
  close_channel(&ends);
}

/* A reply without status and data, and one that is longer than what was asked for. */
static void test_continuation(void) {
  struct ends ends;
  uint8_t end[2];
  const struct iovec parts[DDS_REPLY_PARTS] = {{NULL, 0}, {NULL, 0}, {end, sizeof end}};
  open_channel(&ends, 0);
  dds_reply_receiver_expect(receiver, ends.channel, parts, 0);
  send_part(&ends, 7, 10);
  CHECK(receive(-1, 1) == 1 && is(arrivals, 0, DDS_ARRIVED_WHOLE, 2));
  CHECK(memcmp(end, reply + 7, 2) == 0);
  CHECK(receive(-1, 1) == 1 && arrivals[0].kind == DDS_ARRIVED_END && arrivals[0].error == EPROTO);
  close_channel(&ends);
}

/* One call receives several replies, and ends early only for one that Java continues. */
static void test_several(void) {
  struct ends first;
  struct ends second;
  open_channel(&first, 1);
  open_channel(&second, 2);
  expect(&first, 0);
  expect(&second, 0);
  send_part(&first, 0, WHOLE);
  CHECK(receive(1, 100) == 1 && is(arrivals, 1, DDS_ARRIVED_WHOLE, WHOLE));
  expect(&first, 0);
  send_part(&first, 0, WHOLE);
  send_part(&second, 0, WHOLE);
  CHECK(receive(-1, 100) == 2);
  int order = arrivals[0].number == 1 ? 0 : 1;
  CHECK(is(&arrivals[order], 1, DDS_ARRIVED_WHOLE, WHOLE) && is(&arrivals[1 - order], 2, DDS_ARRIVED_WHOLE, WHOLE));
  check_reply(&first);
  check_reply(&second);

  expect(&first, 1);
  expect(&second, 0);
  send_part(&first, 0, WHOLE);
  send_part(&second, 0, 10);
  int count = receive(-1, 100);
  CHECK(count == 1 || count == 2);
  CHECK(is(&arrivals[0], 1, DDS_ARRIVED_WHOLE, WHOLE) || is(&arrivals[1], 1, DDS_ARRIVED_WHOLE, WHOLE));
  close_channel(&first);
  send_part(&second, 10, WHOLE);
  CHECK(receive(-1, 100) == 1 && is(arrivals, 2, DDS_ARRIVED_WHOLE, WHOLE));
  check_reply(&second);
  close_channel(&second);
}

/* A reply with another status is reported with what has arrived; its rest can be expected. */
static void test_failure(void) {
  struct ends ends;
  uint8_t rest[7];
  const struct iovec parts[DDS_REPLY_PARTS] = {{NULL, 0}, {rest, sizeof rest}, {NULL, 0}};
  open_channel(&ends, 3);
  expect(&ends, 0);
  reply[0] = 2;
  send_part(&ends, 0, 5);
  CHECK(receive(-1, 1) == 1 && is(arrivals, 3, DDS_ARRIVED_STATUS, 5));
  CHECK(memcmp(ends.head, reply, 5) == 0);
  dds_reply_receiver_expect(receiver, ends.channel, parts, 1);
  send_part(&ends, 0, sizeof rest);
  CHECK(receive(-1, 1) == 1 && is(arrivals, 3, DDS_ARRIVED_WHOLE, sizeof rest));
  CHECK(memcmp(rest, reply, sizeof rest) == 0);
  reply[0] = 0;
  close_channel(&ends);
}

/* The end of a peer during a reply, and without one; again until the channel is removed. */
static void test_end(void) {
  struct ends ends;
  open_channel(&ends, 4);
  expect(&ends, 0);
  send_part(&ends, 0, 100);
  shutdown(ends.peer, SHUT_WR);
  CHECK(receive(-1, 1) == 1 && is(arrivals, 4, DDS_ARRIVED_PART, 100));
  CHECK(receive(-1, 1) == 1 && is(arrivals, 4, DDS_ARRIVED_END, 100) && arrivals[0].error == 0);
  CHECK(receive(-1, 1) == 1 && arrivals[0].kind == DDS_ARRIVED_END);
  close_channel(&ends);
  CHECK(receive(0, 1) == 0);
}

/* A reply is reported before the end of its peer, which follows at once. */
static void test_reply_before_end(void) {
  struct ends ends;
  struct ends other;
  open_channel(&ends, 1);
  open_channel(&other, 2);
  expect(&ends, 0);
  expect(&other, 0); /* never comes */
  send_part(&ends, 0, WHOLE);
  shutdown(ends.peer, SHUT_WR);
  CHECK(receive(LONG_MS, 100) == 1 && is(arrivals, 1, DDS_ARRIVED_WHOLE, WHOLE));
  check_reply(&ends);
  CHECK(receive(LONG_MS, 100) == 1 && is(arrivals, 1, DDS_ARRIVED_END, WHOLE));
  close_channel(&ends);
  close_channel(&other);
}

static void test_wakeup(void) {
  struct ends ends;
  open_channel(&ends, 1);
  expect(&ends, 0);
  uint64_t one = 1;
  CHECK(write(wakeup, &one, sizeof one) == sizeof one);
  CHECK(receive(-1, 100) == 0 && receipt.selector && receipt.short_waits == 0);
  CHECK(read(wakeup, &one, sizeof one) == sizeof one);
  CHECK(receive(1, 100) == 0 && !receipt.selector);
  close_channel(&ends);
}

/* Arrivals beyond the room for them are reported by the next calls, unless their channel is removed. */
static void test_room(void) {
  struct ends all[MOST + 3];
  int seen = 0;
  for (int i = 0; i < MOST + 3; i++) {
    open_channel(&all[i], i);
    expect(&all[i], 0);
    send_part(&all[i], 0, WHOLE);
  }
  CHECK(receive(-1, 100) == MOST);
  for (int a = 0; a < MOST; a++) {
    seen |= 1 << arrivals[a].number;
  }
  int removed = 0;
  while (seen >> removed & 1) {
    removed++;
  }
  close_channel(&all[removed]);
  CHECK(receive(-1, 100) == 2);
  seen |= 1 << removed | 1 << arrivals[0].number | 1 << arrivals[1].number;
  CHECK(seen == (1 << (MOST + 3)) - 1);
  for (int i = 0; i < MOST + 3; i++) {
    if (i != removed) {
      check_reply(&all[i]);
      close_channel(&all[i]);
    }
  }
}

/* Sends what the socket takes, and reports that the peer has ended. */
static void test_send(void) {
  static uint8_t bytes[1 << 20];
  struct ends ends;
  open_channel(&ends, 0);
  ssize_t sent = dds_reply_receiver_send(ends.channel, bytes, sizeof bytes);
  CHECK(sent > 0 && sent < (ssize_t)sizeof bytes);
  CHECK(dds_reply_receiver_send(ends.channel, bytes, 1) == 0);
  close(ends.peer);
  CHECK(dds_reply_receiver_send(ends.channel, bytes, 1) == -EPIPE);
  dds_reply_receiver_remove(receiver, ends.channel);
  close(ends.socket);
}

int main(void) {
  open_all();
  test_parts();
  test_continuation();
  test_several();
  test_failure();
  test_end();
  test_reply_before_end();
  test_wakeup();
  test_room();
  test_send();

  struct ends left;
  open_channel(&left, 0);
  dds_reply_receiver_close(receiver); /* frees the channel, but does not close its socket */
  CHECK(fcntl(left.socket, F_GETFD) != -1);
  close(left.socket);
  close(left.peer);
  close(wakeup);
  close(selector);
  return 0;
}
