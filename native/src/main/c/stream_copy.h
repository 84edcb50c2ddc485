// SPDX-License-Identifier: Apache-2.0
/* Copies past the caches, for targets that will have left them before they are read. */
#ifndef DDS_STREAM_COPY_H
#define DDS_STREAM_COPY_H

#include <stddef.h>
#include <stdint.h>

/* Whether this processor has such stores and the library knows them. */
int dds_can_stream(void);

/* As memcpy. Others see the bytes after dds_end_stream alone. */
void dds_stream_copy(uint8_t *to, const uint8_t *from, size_t bytes);

/* Ends a run of dds_stream_copy by this thread. */
void dds_end_stream(void);

#endif
