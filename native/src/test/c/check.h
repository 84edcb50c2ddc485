// SPDX-License-Identifier: Apache-2.0
/* An assertion for tests: prints the line and ends the program if a condition is false. */
#ifndef DDS_CHECK_H
#define DDS_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      abort();                                                                \
    }                                                                         \
  } while (0)

#endif
