// SPDX-License-Identifier: Apache-2.0
#include "epoll_set.h"

#include <errno.h>
#include <unistd.h>

#include "clock.h"

int dds_epoll_open(int selector) {
  int set = epoll_create1(EPOLL_CLOEXEC);
  if (set < 0) {
    return -errno;
  }
  int result = selector < 0 ? 0 : dds_epoll_add(set, selector, NULL);
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

int dds_epoll_wait(int set, struct epoll_event *events, int most, int timeout_ms, int64_t *waited_ns) {
  int64_t start_ns = dds_now_ns();
  int count = epoll_wait(set, events, most, timeout_ms);
  int error = errno;
  *waited_ns = dds_now_ns() - start_ns;
  if (count >= 0) {
    return count;
  }
  return error == EINTR ? 0 : -error;
}
