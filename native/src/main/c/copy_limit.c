// SPDX-License-Identifier: Apache-2.0
#include "copy_limit.h"

#include <string.h>

#include "clock.h"
#include "stream_copy.h"

int64_t dds_copy_rows(const int64_t *rows, const int64_t *targets, size_t batches, size_t batch_rows,
                      size_t row_bytes) {
  int64_t start = dds_now_ns();
  for (size_t b = 0; b < batches; b++) {
    uint8_t *to = (uint8_t *)(uintptr_t)targets[b];
    for (size_t i = 0; i < batch_rows; i++, rows++, to += row_bytes) {
      memcpy(to, (const uint8_t *)(uintptr_t)*rows, row_bytes);
    }
  }
  return dds_now_ns() - start;
}

int64_t dds_copy_stretch(const uint8_t *from, uint8_t *to, size_t bytes) {
  int64_t start = dds_now_ns();
  dds_stream_copy(to, from, bytes);
  dds_end_stream();
  return dds_now_ns() - start;
}
