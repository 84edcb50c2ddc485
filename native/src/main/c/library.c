// SPDX-License-Identifier: Apache-2.0
#include "library.h"

int32_t dds_features(void) {
#ifdef DDS_HAVE_FABRIC
  return DDS_FEATURE_FABRIC;
#else
  return 0;
#endif
}
