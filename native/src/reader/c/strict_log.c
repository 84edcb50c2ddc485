// SPDX-License-Identifier: Apache-2.0
/*
 * The algorithm is that of e_log.c of fdlibm 5.3, which StrictMath.log is defined by:
 *
 * Copyright (C) 1993 by Sun Microsystems, Inc. All rights reserved.
 * Developed at SunSoft, a Sun Microsystems, Inc. business.
 * Permission to use, copy, modify, and distribute this software is freely granted, provided that this notice is
 * preserved.
 */
#include "strict_log.h"

#include <stdint.h>
#include <string.h>

static const double LN2_HIGH = 6.93147180369123816490e-01;
static const double LN2_LOW = 1.90821492927058770002e-10;
static const double LG1 = 6.666666666666735130e-01;
static const double LG2 = 3.999999999940941908e-01;
static const double LG3 = 2.857142874366239149e-01;
static const double LG4 = 2.222219843214978396e-01;
static const double LG5 = 1.818357216161805012e-01;
static const double LG6 = 1.531383769920937332e-01;
static const double LG7 = 1.479819860511658591e-01;

/* x = 2^k * (1 + f) with sqrt(2)/2 < 1 + f < sqrt(2); log(1 + f) is a polynomial of s = f / (2 + f). */
double dds_strict_log(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  int32_t high = (int32_t)(bits >> 32);
  int32_t k = (high >> 20) - 1023;
  high &= 0x000fffff;
  int32_t carry = (high + 0x95f64) & 0x100000;
  k += carry >> 20;
  bits = (uint64_t)(high | (carry ^ 0x3ff00000)) << 32 | (bits & UINT32_MAX);
  memcpy(&x, &bits, sizeof x);
  double f = x - 1.0;
  double dk = (double)k;
  if ((0x000fffff & (2 + high)) < 3) { /* |f| < 2^-20 */
    if (f == 0) {
      return k == 0 ? 0 : dk * LN2_HIGH + dk * LN2_LOW;
    }
    double r = f * f * (0.5 - 0.33333333333333333 * f);
    return k == 0 ? f - r : dk * LN2_HIGH - ((r - dk * LN2_LOW) - f);
  }
  double s = f / (2.0 + f);
  double z = s * s;
  double w = z * z;
  double t1 = w * (LG2 + w * (LG4 + w * LG6));
  double t2 = z * (LG1 + w * (LG3 + w * (LG5 + w * LG7)));
  double r = t2 + t1;
  if (((high - 0x6147a) | (0x6b851 - high)) > 0) {
    double half_square = 0.5 * f * f;
    return k == 0 ? f - (half_square - s * (half_square + r))
                  : dk * LN2_HIGH - ((half_square - (s * (half_square + r) + dk * LN2_LOW)) - f);
  }
  return k == 0 ? f - s * (f - r) : dk * LN2_HIGH - ((s * (f - r) - dk * LN2_LOW) - f);
}
