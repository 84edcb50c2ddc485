// SPDX-License-Identifier: Apache-2.0
/* What the whole library is: its version and what it was built with. */
#ifndef DDS_LIBRARY_H
#define DDS_LIBRARY_H

#include <stdint.h>

/* Raised with every change of what Java calls; NativeLibrary.java has the same number. */
#define DDS_ABI_VERSION 5

/* Bits of dds_features(). */
#define DDS_FEATURE_FABRIC 1

/* The parts that were compiled in, as bits. */
int32_t dds_features(void);

#endif
