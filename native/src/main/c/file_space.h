// SPDX-License-Identifier: Apache-2.0
/* Reservation of a file's space on its file system. */
#ifndef DDS_FILE_SPACE_H
#define DDS_FILE_SPACE_H

#include <stdint.h>

/* Reserves a range of bytes. Returns 0, or -errno: -ENOSPC if space or quota is exhausted. */
int dds_reserve(const char *path, int64_t from, int64_t bytes);

#endif
