// SPDX-License-Identifier: Apache-2.0
#include "file_space.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

int main(void) {
  char path[] = "/tmp/ddstore-file-space-XXXXXX";
  int file = mkstemp(path);
  CHECK(file >= 0);
  CHECK(write(file, "abc", 3) == 3);
  CHECK(dds_reserve(path, 0, 1 << 20) == 0);
  struct stat seen;
  CHECK(fstat(file, &seen) == 0);
  CHECK(seen.st_size == 1 << 20);
  CHECK(seen.st_blocks * 512 >= 1 << 20);
  char read_back[4];
  CHECK(pread(file, read_back, sizeof read_back, 0) == 4);
  CHECK(memcmp(read_back, "abc", sizeof read_back) == 0); /* including the zero that follows */
  CHECK(dds_reserve(path, 0, INT64_MAX) == -ENOSPC);
  CHECK(unlink(path) == 0);
  CHECK(close(file) == 0);
  CHECK(dds_reserve(path, 0, 1) == -ENOENT);
  return 0;
}
