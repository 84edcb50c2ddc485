// SPDX-License-Identifier: Apache-2.0
#include "library.h"

#include "check.h"

int main(void) {
#ifdef DDS_HAVE_FABRIC
  CHECK(dds_features() == DDS_FEATURE_FABRIC);
#else
  CHECK(dds_features() == 0);
#endif
  return 0;
}
