// SPDX-License-Identifier: Apache-2.0
#ifndef DDS_STRICT_LOG_H
#define DDS_STRICT_LOG_H

/* Returns the natural logarithm of a normal number in (0, 1]: the bits of StrictMath.log in Java, on every platform. */
double dds_strict_log(double x);

#endif
