// SPDX-License-Identifier: Apache-2.0
#include "process_read.h"

#include "check.h"

int main(void) {
  CHECK(dds_process_read_check() <= 0); /* negative where a container refuses the call */
  return 0;
}
