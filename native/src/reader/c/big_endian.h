// SPDX-License-Identifier: Apache-2.0
/* Numbers of the data port. */
#ifndef DDS_BIG_ENDIAN_H
#define DDS_BIG_ENDIAN_H

#include <stdint.h>

/* Writes the low bytes of a number, the highest first. Returns the end. */
static inline uint8_t *dds_put_big(uint8_t *to, uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    *to++ = (uint8_t)(value >> shift);
  }
  return to;
}

#endif
