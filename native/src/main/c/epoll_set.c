// SPDX-License-Identifier: Apache-2.0
#include "epoll_set.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

int dds_epoll_open(int selector) {
  int set = epoll_create1(EPOLL_CLOEXEC);
  if (set < 0) {
    return -errno;
  }
  int result = dds_epoll_add(set, selector, NULL);
  if (result < 0) {
    close(set);
    return result;
  }
  return set;
}

int dds_epoll_add(int set, int descriptor, void *data) {
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = data};
  return epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event) == 0 ? 0 : -errno;
}

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

int dds_epoll_wait(int set, struct epoll_event *events, int most, int timeout_ms, int64_t *waited_ns) {
  int64_t start_ns = now_ns();
  int count = epoll_wait(set, events, most, timeout_ms);
  int error = errno;
  *waited_ns = now_ns() - start_ns;
  if (count >= 0) {
    return count;
  }
  return error == EINTR ? 0 : -error;
}
