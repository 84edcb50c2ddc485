// SPDX-License-Identifier: Apache-2.0
#include "port.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "big_endian.h"
#include "clock.h"

#define MAGIC "DDR1"
#define VERSION 1
#define HELLO 1
#define PROOF 2
#define NONCE_BYTES 32
#define MAC_BYTES crypto_auth_hmacsha256_BYTES
#define SERVER "ddstore server"
#define CLIENT "ddstore client"

#define STATUS_OK 0
#define STATUS_GONE 2
#define STATUS_OTHER_PROCESS 3
#define STATUS_EXPIRED 7
#define STATUS_REVOKED 8

/* Longest connection and handshake, which the owner ends after the same time. */
#define MOST_NS (20 * INT64_C(1000000000))

static int64_t left_ms(int64_t end_ns) {
  int64_t left_ns = end_ns - dds_now_ns();
  return left_ns <= 0 ? 0 : (left_ns + 999999) / 1000000;
}

struct dialog {
  int socket;
  int64_t end_ns;
  const struct dds_process *process;
  struct dds_error *error;
};

static int failed(const struct dialog *dialog, int code, const char *what) {
  return dds_fail(dialog->error, code, "data port %s:%d: %s", dialog->process->host, dialog->process->port, what);
}

/* Waits until the socket is ready for events. */
static int wait_for(const struct dialog *dialog, short events) {
  while (1) {
    struct pollfd poller = {.fd = dialog->socket, .events = events};
    int64_t ms = left_ms(dialog->end_ns);
    int ready = poll(&poller, 1, ms > 100000 ? 100000 : (int)ms);
    if (ready > 0) {
      return DDS_OK;
    }
    if (ready < 0 && errno != EINTR) {
      return failed(dialog, DDS_SYSTEM, strerror(errno));
    }
    if (left_ms(dialog->end_ns) == 0) {
      return failed(dialog, DDS_DEADLINE, "no answer in time");
    }
  }
}

static int write_all(const struct dialog *dialog, const uint8_t *bytes, size_t count) {
  int code;
  while (count > 0) {
    ssize_t sent = send(dialog->socket, bytes, count, MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
      return failed(dialog, DDS_SYSTEM, strerror(errno));
    }
    if (sent > 0) {
      bytes += sent;
      count -= (size_t)sent;
    } else if ((code = wait_for(dialog, POLLOUT)) != DDS_OK) {
      return code;
    }
  }
  return DDS_OK;
}

static int read_all(const struct dialog *dialog, uint8_t *bytes, size_t count) {
  int code;
  while (count > 0) {
    ssize_t got = recv(dialog->socket, bytes, count, 0);
    if (got == 0) {
      return failed(dialog, DDS_SYSTEM, "the process has closed the connection");
    }
    if (got < 0 && errno != EAGAIN && errno != EINTR) {
      return failed(dialog, DDS_SYSTEM, strerror(errno));
    }
    if (got > 0) {
      bytes += got;
      count -= (size_t)got;
    } else if ((code = wait_for(dialog, POLLIN)) != DDS_OK) {
      return code;
    }
  }
  return DDS_OK;
}

static uint8_t *put(uint8_t *to, const void *from, size_t bytes) {
  memcpy(to, from, bytes);
  return to + bytes;
}

/* Signs what both sides know of a handshake. */
static void sign(uint8_t *mac, const char *role, const struct dds_handle *handle, const struct dds_process *process,
                 const uint8_t *own_nonce, const uint8_t *owner_nonce) {
  uint8_t id[8];
  uint8_t version = VERSION;
  crypto_auth_hmacsha256_state state;
  dds_put_big(id, process->id, 8);
  crypto_auth_hmacsha256_init(&state, handle->key, sizeof handle->key);
  crypto_auth_hmacsha256_update(&state, (const uint8_t *)role, strlen(role));
  crypto_auth_hmacsha256_update(&state, &version, 1);
  crypto_auth_hmacsha256_update(&state, handle->store, sizeof handle->store);
  crypto_auth_hmacsha256_update(&state, own_nonce, NONCE_BYTES);
  crypto_auth_hmacsha256_update(&state, owner_nonce, NONCE_BYTES);
  crypto_auth_hmacsha256_update(&state, id, sizeof id);
  crypto_auth_hmacsha256_update(&state, handle->claims, handle->claims_bytes);
  crypto_auth_hmacsha256_final(&state, mac);
  sodium_memzero(&state, sizeof state);
}

static int refused(const struct dialog *dialog, const struct dds_handle *handle, uint8_t status) {
  switch (status) {
    case STATUS_GONE:
      return dds_fail(dialog->error, DDS_STORE_GONE, "store \"%s\" is gone: it was dropped", handle->name);
    case STATUS_EXPIRED:
      return dds_fail(dialog->error, DDS_EXPIRED, "grant \"%s\" of store \"%s\" has ended", handle->label,
                      handle->name);
    case STATUS_REVOKED:
      return dds_fail(dialog->error, DDS_REVOKED, "grant \"%s\" of store \"%s\" was revoked", handle->label,
                      handle->name);
    default:
      return failed(dialog, DDS_REFUSED, "the process refuses the key");
  }
}

static int shake_hands(const struct dialog *dialog, const struct dds_handle *handle) {
  uint8_t own_nonce[NONCE_BYTES];
  uint8_t greeting[8 + 2 + DDS_ID_BYTES + NONCE_BYTES + 8 + DDS_MOST_CLAIMS];
  uint8_t answer[NONCE_BYTES + MAC_BYTES];
  uint8_t mac[MAC_BYTES];
  uint8_t status;
  randombytes_buf(own_nonce, sizeof own_nonce);
  uint8_t *to = put(greeting, MAGIC, 4);
  to = dds_put_big(to, 2 + DDS_ID_BYTES + NONCE_BYTES + 8 + handle->claims_bytes, 4);
  *to++ = HELLO;
  *to++ = VERSION;
  to = put(put(to, handle->store, DDS_ID_BYTES), own_nonce, NONCE_BYTES);
  to = put(dds_put_big(to, dialog->process->id, 8), handle->claims, handle->claims_bytes);
  int code = write_all(dialog, greeting, (size_t)(to - greeting));
  if (code == DDS_OK) {
    code = read_all(dialog, &status, 1);
  }
  if (code == DDS_OK && status == STATUS_OTHER_PROCESS) {
    return failed(dialog, DDS_LOST, "another process listens there");
  }
  if (code == DDS_OK && status != STATUS_OK) {
    return failed(dialog, DDS_REFUSED, "an unknown answer");
  }
  if (code == DDS_OK) {
    code = read_all(dialog, answer, sizeof answer);
  }
  if (code != DDS_OK) {
    return code;
  }
  sign(mac, SERVER, handle, dialog->process, own_nonce, answer);
  if (sodium_memcmp(mac, answer + NONCE_BYTES, MAC_BYTES) != 0) {
    return failed(dialog, DDS_REFUSED, "the process does not have the key of the handle");
  }
  sign(mac, CLIENT, handle, dialog->process, own_nonce, answer);
  uint8_t proof[1 + DDS_ID_BYTES + MAC_BYTES] = {PROOF};
  put(put(proof + 1, handle->store, DDS_ID_BYTES), mac, MAC_BYTES);
  code = write_all(dialog, proof, sizeof proof);
  if (code == DDS_OK) {
    code = read_all(dialog, &status, 1);
  }
  return code != DDS_OK || status == STATUS_OK ? code : refused(dialog, handle, status);
}

static int connect_to(struct dialog *dialog, const struct addrinfo *address) {
  dialog->socket = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (dialog->socket < 0) {
    return failed(dialog, DDS_SYSTEM, strerror(errno));
  }
  int problem = connect(dialog->socket, address->ai_addr, address->ai_addrlen) == 0 ? 0 : errno;
  if (problem == EINPROGRESS) {
    int code = wait_for(dialog, POLLOUT);
    if (code != DDS_OK) {
      return code;
    }
    socklen_t size = sizeof problem;
    getsockopt(dialog->socket, SOL_SOCKET, SO_ERROR, &problem, &size);
  }
  if (problem == ECONNREFUSED) {
    return failed(dialog, DDS_LOST, "nobody listens there: its process has ended");
  }
  if (problem != 0) {
    return failed(dialog, DDS_SYSTEM, strerror(problem));
  }
  int on = 1;
  setsockopt(dialog->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(dialog->socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on); /* finds hosts that vanished */
  return DDS_OK;
}

/* Finds the addresses of a process. Only a name, not an address, is looked up; the resolver knows no deadline. */
static int find_addresses(const struct dialog *dialog, struct addrinfo **addresses) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV | AI_NUMERICHOST};
  char port[8];
  snprintf(port, sizeof port, "%d", dialog->process->port);
  int unknown = getaddrinfo(dialog->process->host, port, &hints, addresses);
  if (unknown == EAI_NONAME) {
    hints.ai_flags = AI_NUMERICSERV;
    unknown = getaddrinfo(dialog->process->host, port, &hints, addresses);
  }
  return unknown == 0 ? DDS_OK : failed(dialog, unknown == EAI_NONAME ? DDS_LOST : DDS_SYSTEM, gai_strerror(unknown));
}

/* Connects to the first address that answers; each has an equal part of the time that is left. */
static int connect_to_any(struct dialog *dialog, const struct addrinfo *addresses) {
  const int64_t end_ns = dialog->end_ns;
  int left = 0;
  int code = DDS_SYSTEM;
  for (const struct addrinfo *address = addresses; address != NULL; address = address->ai_next) {
    left++;
  }
  for (const struct addrinfo *address = addresses; address != NULL && code != DDS_OK; address = address->ai_next) {
    int64_t now = dds_now_ns();
    dialog->end_ns = now + (end_ns - now) / left--;
    code = connect_to(dialog, address);
    if (code != DDS_OK && dialog->socket >= 0) {
      close(dialog->socket);
    }
  }
  dialog->end_ns = end_ns;
  return code;
}

int dds_port_open(const struct dds_handle *handle, const struct dds_process *process, int64_t end_ns, int *socket,
                  struct dds_error *error) {
  int64_t latest_ns = dds_now_ns() + MOST_NS;
  struct dialog dialog = {
      .socket = -1, .end_ns = end_ns < latest_ns ? end_ns : latest_ns, .process = process, .error = error};
  struct addrinfo *addresses = NULL;
  int code = find_addresses(&dialog, &addresses);
  if (code != DDS_OK) {
    return code;
  }
  code = connect_to_any(&dialog, addresses);
  freeaddrinfo(addresses);
  if (code != DDS_OK) {
    return code;
  }
  code = shake_hands(&dialog, handle);
  if (code != DDS_OK) {
    close(dialog.socket);
    return code;
  }
  *socket = dialog.socket;
  return DDS_OK;
}
