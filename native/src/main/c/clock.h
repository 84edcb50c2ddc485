// SPDX-License-Identifier: Apache-2.0
/* The clock of deadlines. */
#ifndef DDS_CLOCK_H
#define DDS_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Returns nanoseconds of CLOCK_MONOTONIC. */
static inline int64_t dds_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

#endif
