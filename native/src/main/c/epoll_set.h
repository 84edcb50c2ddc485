// SPDX-License-Identifier: Apache-2.0
/* Sets of descriptors that one thread waits for, together with a selector of Java. */
#ifndef DDS_EPOLL_SET_H
#define DDS_EPOLL_SET_H

#include <stdint.h>
#include <sys/epoll.h>

/* Opens a set with the epoll descriptor of a selector, whose data are NULL, if it is not -1. Returns its descriptor or
 * -errno. */
int dds_epoll_open(int selector);

/* Adds a descriptor, reported with its data when it can be read. Returns 0 or -errno. */
int dds_epoll_add(int set, int descriptor, void *data);

/*
 * Waits like epoll_wait, and sets the duration of the wait. Returns the number of events, 0 also after a
 * signal, or -errno.
 */
int dds_epoll_wait(int set, struct epoll_event *events, int most, int timeout_ms, int64_t *waited_ns);

#endif
