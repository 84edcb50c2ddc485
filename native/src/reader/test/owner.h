// SPDX-License-Identifier: Apache-2.0
/* Data ports for the C tests, docs/handle.md, with owners that also misbehave; and handles that name them. */
#ifndef DDS_OWNER_H
#define DDS_OWNER_H

#include <arpa/inet.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../../test/c/check.h"

#define ROWS 40
#define FIXED_BYTES 12
#define KEY_BYTE 7
#define MOST_REPLY (1 << 17)

/*
 * An owner of ROWS rows: bytes that are all the number of the row. Ragged ones have row % 9 bytes after their length.
 *
 * connections  connections so far; requests: requests so far; open: connections that are open
 * proved       last byte of the handshake
 * change       NULL, or changes a reply before it is sent, and returns its size. A size of 0 ends the connection
 * greet        NULL, or the same for the answer to a greeting
 * begin        NULL, or is called when a connection begins; its result is given to the two
 */
struct owner {
  int listener;
  int port;
  int ragged;
  pthread_t thread;
  atomic_int connections;
  atomic_int requests;
  uint8_t proved;
  void *(*begin)(struct owner *owner);
  size_t (*greet)(void *begun, uint8_t *answer, size_t count);
  size_t (*change)(struct owner *owner, void *begun, uint8_t *reply, size_t count);
};

static inline int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

static inline int owner_receive(int socket, uint8_t *bytes, size_t count) {
  while (count > 0) {
    ssize_t got = recv(socket, bytes, count, 0);
    if (got <= 0) {
      return 0;
    }
    bytes += got;
    count -= (size_t)got;
  }
  return 1;
}

static inline int owner_send(int socket, const uint8_t *bytes, size_t count) {
  size_t all = count;
  while (count > 0) {
    ssize_t sent = send(socket, bytes, count, MSG_NOSIGNAL);
    if (sent <= 0) {
      return 0; /* the reader has given up */
    }
    bytes += sent;
    count -= (size_t)sent;
  }
  return all > 0;
}

static inline uint32_t big_at(const uint8_t *from) {
  return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

/* Answers a greeting. Returns whether the reader may ask for rows. */
static inline int owner_greet(const struct owner *owner, void *begun, int socket) {
  uint8_t greeting[8 + 256];
  uint8_t answer[1 + 64] = {0};
  uint8_t proof[1 + 16 + 32];
  uint8_t key[32] = {[31] = KEY_BYTE};
  static const uint8_t role[] = "ddstore server";
  uint8_t version = 1;
  if (!owner_receive(socket, greeting, 8) || big_at(greeting + 4) > 256 ||
      !owner_receive(socket, greeting + 8, big_at(greeting + 4))) {
    return 0;
  }
  size_t size = big_at(greeting + 4);
  const uint8_t *store = greeting + 10;
  memset(answer + 1, 11, 32);
  crypto_auth_hmacsha256_state state;
  crypto_auth_hmacsha256_init(&state, key, sizeof key);
  crypto_auth_hmacsha256_update(&state, role, sizeof role - 1);
  crypto_auth_hmacsha256_update(&state, &version, 1);
  crypto_auth_hmacsha256_update(&state, store, 16 + 32);
  crypto_auth_hmacsha256_update(&state, answer + 1, 32);
  crypto_auth_hmacsha256_update(&state, store + 48, size - 50);
  crypto_auth_hmacsha256_final(&state, answer + 33);
  size_t bytes = owner->greet == NULL ? sizeof answer : owner->greet(begun, answer, sizeof answer);
  return owner_send(socket, answer, bytes) && bytes == sizeof answer && owner_receive(socket, proof, sizeof proof) &&
         owner_send(socket, &owner->proved, 1) && owner->proved == 0;
}

static inline size_t padded(uint8_t *reply, size_t from, size_t to) {
  while ((to - from) % 64 != 0) {
    reply[to++] = 0;
  }
  return to;
}

/* Answers a request for runs of one row. Returns whether there can be another one. */
static inline int owner_answer(struct owner *owner, void *begun, int socket) {
  uint8_t head[4];
  if (!owner_receive(socket, head, 4) || big_at(head) > 1 << 16) {
    return 0;
  }
  uint8_t *request = malloc(big_at(head));
  uint8_t *reply = malloc(MOST_REPLY);
  uint8_t *records = malloc(MOST_REPLY);
  CHECK(request != NULL && reply != NULL && records != NULL);
  int more = owner_receive(socket, request, big_at(head));
  owner->requests++;
  int lengths = request[0];
  uint32_t skip = big_at(request + 1);
  uint32_t wanted = big_at(request + 5);
  uint32_t segments = big_at(request + 9);
  const uint8_t *at = request + 13;
  size_t end = 1;
  size_t bytes = 0;
  reply[0] = 0;
  for (uint32_t s = 0; more && s < segments; s++) {
    uint32_t rows = big_at(at + 20);
    at += 24;
    for (uint32_t r = 0; r < rows; r++, at += 8) {
      uint32_t row = big_at(at + 4) % ROWS;
      uint32_t size = owner->ragged ? 4 + row % 9 : FIXED_BYTES;
      for (int b = 3; lengths && b >= 0; b--) {
        reply[end++] = (uint8_t)(size >> 8 * b);
      }
      memset(records + bytes, (int)row, size);
      if (owner->ragged) {
        memcpy(records + bytes, (uint8_t[]){(uint8_t)(row % 9), 0, 0, 0}, 4);
      }
      bytes += size;
    }
  }
  end = padded(reply, 0, end);
  bytes = bytes > skip ? bytes - skip : 0;
  bytes = bytes < wanted ? bytes : wanted;
  memcpy(reply + end, records + skip, bytes);
  end += bytes;
  size_t tail = end;
  reply[end++] = 0;
  for (uint32_t s = 0; more && s < segments; s++, end += 8) {
    memcpy(reply + end, "\0\0\0\0\0\0\0\2", 8);
  }
  end = padded(reply, tail, end);
  if (more && owner->change != NULL) {
    end = owner->change(owner, begun, reply, end);
  }
  more = more && owner_send(socket, reply, end);
  free(request);
  free(reply);
  free(records);
  return more;
}

struct owner_connection {
  struct owner *owner;
  int socket;
  pthread_t thread;
  atomic_int ended;
  struct owner_connection *next;
};

static inline void *owner_serve(void *argument) {
  struct owner_connection *connection = argument;
  struct owner *owner = connection->owner;
  void *begun = owner->begin == NULL ? NULL : owner->begin(owner);
  if (owner_greet(owner, begun, connection->socket)) {
    while (owner_answer(owner, begun, connection->socket)) {
    }
  }
  free(begun);
  close(connection->socket);
  connection->ended = 1;
  return NULL;
}

/* Joins the threads of connections that have ended, or of all. */
static inline void owner_join(struct owner_connection **first, int all) {
  for (struct owner_connection **at = first; *at != NULL;) {
    struct owner_connection *connection = *at;
    if (all || connection->ended) {
      CHECK(pthread_join(connection->thread, NULL) == 0);
      *at = connection->next;
      free(connection);
    } else {
      at = &connection->next;
    }
  }
}

/* Joins every thread: a leak checker counts the memory of one that still ends when the program does. */
static inline void *owner_accept(void *argument) {
  struct owner *owner = argument;
  struct owner_connection *first = NULL;
  for (int socket; (socket = accept4(owner->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0;) {
    owner_join(&first, 0);
    struct owner_connection *connection = malloc(sizeof *connection);
    CHECK(connection != NULL);
    *connection = (struct owner_connection){.owner = owner, .socket = socket, .next = first};
    first = connection;
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){.tv_sec = 20}, sizeof(struct timeval));
    owner->connections++;
    CHECK(pthread_create(&connection->thread, NULL, owner_serve, connection) == 0);
  }
  owner_join(&first, 1);
  return NULL;
}

/* Makes an owner that listens, and whose connections nobody accepts. */
static inline void owner_listen(struct owner *owner) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  CHECK(sodium_init() >= 0);
  owner->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CHECK(owner->listener >= 0 && bind(owner->listener, (struct sockaddr *)&address, sizeof address) == 0);
  CHECK(listen(owner->listener, 64) == 0 && getsockname(owner->listener, (struct sockaddr *)&address, &size) == 0);
  owner->port = ntohs(address.sin_port);
}

/* Starts an owner, whose threads leave signals to that of the reader. */
static inline void owner_start(struct owner *owner) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  owner_listen(owner);
  CHECK(pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
  CHECK(pthread_create(&owner->thread, NULL, owner_accept, owner) == 0);
  CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
}

/* Stops an owner whose readers are closed. */
static inline void owner_stop(struct owner *owner) {
  CHECK(shutdown(owner->listener, SHUT_RDWR) == 0 && pthread_join(owner->thread, NULL) == 0);
  close(owner->listener);
}

/*
 * Writes a handle of the rows in some copies. Copy c has two segments, which the processes at ports[2 * c] and
 * ports[2 * c + 1] serve; the first has all rows but ten. Equal ports are one process.
 */
static inline void write_handle(char *json, size_t bytes, const char *name, int ragged, const int *ports, int copies) {
  static const int first_rows[] = {0, ROWS - 10, ROWS};
  size_t end = 0;
#define PUT(...) end += (size_t)snprintf(json + end, bytes - end, __VA_ARGS__)
  PUT("{\"format\":\"ddstore-handle\",\"version\":1,\"name\":\"%s\",\"store\":\"%032d\",\"state\":1,\"rows\":%d,"
      "\"digest\":\"\",\"recordBytes\":%d,\"fields\":[{\"name\":\"x\",\"kind\":\"%s\",\"dtype\":\"uint8\","
      "\"shape\":[%s]}],\"processes\":[",
      name, 3, ROWS, ragged ? 0 : FIXED_BYTES, ragged ? "bytes" : "fixed", ragged ? "" : "12");
  int process_of[8];
  int processes = 0;
  for (int p = 0; p < 2 * copies; p++) {
    int same = 0;
    while (same < p && ports[same] != ports[p]) {
      same++;
    }
    process_of[p] = same < p ? process_of[same] : processes++;
    if (same < p) {
      continue;
    }
    PUT("%s{\"host\":\"127.0.0.1\",\"port\":%d,\"id\":\"%016d\"}", p == 0 ? "" : ",", ports[p], 5 + p);
  }
  PUT("],\"ranks\":2,\"copies\":[");
  for (int c = 0; c < copies; c++) {
    for (int s = 0; s < 2; s++) {
      int size = 0;
      for (int row = first_rows[s]; row < first_rows[s + 1]; row++) {
        size += ragged ? 4 + (row - first_rows[s]) % 9 : FIXED_BYTES;
      }
      PUT("%s{\"firstRow\":%d,\"rows\":%d,\"rank\":%d,\"owner\":\"1@h\",\"bytes\":%d,\"nonce\":\"%032d\","
          "\"boot\":\"%016d\",\"path\":null,\"process\":%d}",
          s == 1   ? ","
          : c == 0 ? "["
                   : "],[",
          first_rows[s], first_rows[s + 1] - first_rows[s], s, size, 9 + s, 1, process_of[2 * c + s]);
    }
  }
  PUT("]],\"grant\":{\"label\":\"handle\",\"expiresMs\":null,\"key\":\"%064d\"}}", KEY_BYTE);
#undef PUT
  CHECK(end < bytes);
}

#endif
