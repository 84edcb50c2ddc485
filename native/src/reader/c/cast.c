// SPDX-License-Identifier: Apache-2.0
#include "cast.h"

#include <endian.h>
#include <string.h>

/* Values of a block, which fits in the first-level cache. */
#define BLOCK ((size_t)2048)

size_t dds_dtype_bytes(enum dds_dtype dtype) {
  switch (dtype) {
    case DDS_BOOL:
    case DDS_INT8:
    case DDS_UINT8:
      return 1;
    case DDS_INT16:
    case DDS_FLOAT16:
    case DDS_BFLOAT16:
      return 2;
    case DDS_INT32:
    case DDS_FLOAT32:
      return 4;
    default:
      return 8;
  }
}

int dds_can_cast(enum dds_dtype from, enum dds_dtype to) {
  return from != DDS_BOOL && from != DDS_FLOAT16 && from != DDS_INT64 && (to == DDS_FLOAT32 || to == DDS_BFLOAT16);
}

static uint16_t u16_at(const uint8_t *values, size_t i) {
  uint16_t bits;
  memcpy(&bits, values + 2 * i, sizeof bits);
  return le16toh(bits);
}

static uint32_t u32_at(const uint8_t *values, size_t i) {
  uint32_t bits;
  memcpy(&bits, values + 4 * i, sizeof bits);
  return le32toh(bits);
}

static float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static double double_at(const uint8_t *values, size_t i) {
  uint64_t bits;
  double value;
  memcpy(&bits, values + 8 * i, sizeof bits);
  bits = le64toh(bits);
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void load(enum dds_dtype from, const uint8_t *values, float *block, size_t count) {
  switch (from) {
    case DDS_UINT8:
      for (size_t i = 0; i < count; i++) {
        block[i] = values[i];
      }
      break;
    case DDS_INT8:
      for (size_t i = 0; i < count; i++) {
        block[i] = (int8_t)values[i];
      }
      break;
    case DDS_INT16:
      for (size_t i = 0; i < count; i++) {
        block[i] = (int16_t)u16_at(values, i);
      }
      break;
    case DDS_INT32:
      for (size_t i = 0; i < count; i++) {
        block[i] = (float)(int32_t)u32_at(values, i);
      }
      break;
    case DDS_BFLOAT16:
      for (size_t i = 0; i < count; i++) {
        block[i] = float_of((uint32_t)u16_at(values, i) << 16);
      }
      break;
    case DDS_FLOAT32:
      for (size_t i = 0; i < count; i++) {
        block[i] = float_of(u32_at(values, i));
      }
      break;
    default:
      for (size_t i = 0; i < count; i++) {
        block[i] = (float)double_at(values, i);
      }
  }
}

/* Rounds to the nearest, ties to even; a NaN stays one, even if only bits that are dropped made it one. */
static uint16_t bfloat16_of(uint32_t bits) {
  if ((bits & 0x7fffffff) > 0x7f800000) {
    return (uint16_t)(bits >> 16 | 0x40);
  }
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static void store(enum dds_dtype to, const float *block, uint8_t *results, size_t count) {
  for (size_t i = 0; i < count; i++) {
    uint32_t bits;
    memcpy(&bits, &block[i], sizeof bits);
    if (to == DDS_FLOAT32) {
      bits = htole32(bits);
      memcpy(results + 4 * i, &bits, sizeof bits);
    } else {
      uint16_t half = htole16(bfloat16_of(bits));
      memcpy(results + 2 * i, &half, sizeof half);
    }
  }
}

void dds_cast(enum dds_dtype from, enum dds_dtype to, float scale, const void *values, void *results, size_t count) {
  const uint8_t *in = values;
  uint8_t *out = results;
  float block[BLOCK];
  for (size_t at = 0; at < count; at += BLOCK) {
    size_t some = count - at < BLOCK ? count - at : BLOCK;
    load(from, in + at * dds_dtype_bytes(from), block, some);
    for (size_t i = 0; scale != 1 && i < some; i++) {
      block[i] *= scale;
    }
    store(to, block, out + at * dds_dtype_bytes(to), some);
  }
}
