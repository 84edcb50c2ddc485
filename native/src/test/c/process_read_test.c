// SPDX-License-Identifier: Apache-2.0
#include "process_read.h"

#include "check.h"

int main(void) {
  CHECK(dds_process_read_check() <= 0); /* a container may refuse it */
  return 0;
}
