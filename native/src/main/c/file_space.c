// SPDX-License-Identifier: Apache-2.0
#include "file_space.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int dds_reserve(const char *path, int64_t from, int64_t bytes) {
  int error;
  int file = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) {
    return -errno;
  }
  do {
    error = posix_fallocate(file, from, bytes);
  } while (error == EINTR); /* partial reservations are undone or repeated */
  close(file);
  return error == EDQUOT || error == EFBIG ? -ENOSPC : -error;
}
