// SPDX-License-Identifier: Apache-2.0
/* Copies past the caches, for targets that would be evicted before they are read. */
#ifndef DDS_STREAM_COPY_H
#define DDS_STREAM_COPY_H

#include <stddef.h>
#include <stdint.h>

/* Returns true if the processor has stores past the caches and the library supports them. */
int dds_can_stream(void);

/* Copies like memcpy. Other threads see the bytes only after dds_end_stream. */
void dds_stream_copy(uint8_t *to, const uint8_t *from, size_t bytes);

/* Ends a sequence of dds_stream_copy calls by this thread. */
void dds_end_stream(void);

#endif
