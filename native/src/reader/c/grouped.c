// SPDX-License-Identifier: Apache-2.0
#include "grouped.h"

const char *dds_grouped(char text[DDS_GROUPED_BYTES], int64_t number) {
  char reversed[DDS_GROUPED_BYTES];
  uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
  int used = 0;
  for (int digits = 0; digits == 0 || left > 0; digits++) {
    if (digits > 0 && digits % 3 == 0) {
      reversed[used++] = ',';
    }
    reversed[used++] = (char)('0' + left % 10);
    left /= 10;
  }
  if (number < 0) {
    reversed[used++] = '-';
  }
  for (int i = 0; i < used; i++) {
    text[i] = reversed[used - 1 - i];
  }
  text[used] = '\0';
  return text;
}
