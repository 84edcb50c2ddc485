// SPDX-License-Identifier: Apache-2.0
/* The space that a file takes on its file system. */
#ifndef DDS_FILE_SPACE_H
#define DDS_FILE_SPACE_H

#include <stdint.h>

/* Reserves space for bytes from one on. Returns 0, or -errno: -ENOSPC if there is none, or none allowed. */
int dds_reserve(const char *path, int64_t from, int64_t bytes);

#endif
