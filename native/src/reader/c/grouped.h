// SPDX-License-Identifier: Apache-2.0
/* Numbers with thousands separators, for messages. */
#ifndef DDS_GROUPED_H
#define DDS_GROUPED_H

#include <stdint.h>

#define DDS_GROUPED_BYTES 28

/* Writes the number to the text, and returns the text. */
const char *dds_grouped(char text[DDS_GROUPED_BYTES], int64_t number);

/* The text of a number; its memory is valid to the end of the block. */
#define GROUPED(number) dds_grouped((char[DDS_GROUPED_BYTES]){0}, number)

#endif
