// SPDX-License-Identifier: Apache-2.0
/* Version and compiled features of the library. */
#ifndef DDS_LIBRARY_H
#define DDS_LIBRARY_H

#include <stdint.h>

/* Incremented with every change of the JNI functions; NativeLibrary.java has the same number. */
#define DDS_ABI_VERSION 8

/* Bits of the result of dds_features(). */
#define DDS_FEATURE_FABRIC 1

/* Returns the compiled features as bits. */
int32_t dds_features(void);

#endif
