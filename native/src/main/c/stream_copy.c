// SPDX-License-Identifier: Apache-2.0
#include "stream_copy.h"

#include <string.h>

#if defined(__x86_64__)

#include <immintrin.h>

#define LINE 64

/* Copies whole cache lines to aligned lines. */
static void copy_lines_sse2(uint8_t *to, const uint8_t *from, size_t lines) {
  for (size_t i = 0; i < lines; i++, to += LINE, from += LINE) {
    __m128i a = _mm_loadu_si128((const __m128i *)from);
    __m128i b = _mm_loadu_si128((const __m128i *)(from + 16));
    __m128i c = _mm_loadu_si128((const __m128i *)(from + 32));
    __m128i d = _mm_loadu_si128((const __m128i *)(from + 48));
    _mm_stream_si128((__m128i *)to, a);
    _mm_stream_si128((__m128i *)(to + 16), b);
    _mm_stream_si128((__m128i *)(to + 32), c);
    _mm_stream_si128((__m128i *)(to + 48), d);
  }
}

__attribute__((target("avx2"))) static void copy_lines_avx2(uint8_t *to, const uint8_t *from, size_t lines) {
  for (size_t i = 0; i < lines; i++, to += LINE, from += LINE) {
    __m256i a = _mm256_loadu_si256((const __m256i *)from);
    __m256i b = _mm256_loadu_si256((const __m256i *)(from + 32));
    _mm256_stream_si256((__m256i *)to, a);
    _mm256_stream_si256((__m256i *)(to + 32), b);
  }
}

int dds_can_stream(void) {
  return 1;
}

void dds_stream_copy(uint8_t *to, const uint8_t *from, size_t bytes) {
  size_t head = (size_t)(-(uintptr_t)to & (LINE - 1));
  if (head > bytes) {
    head = bytes;
  }
  memcpy(to, from, head);
  size_t lines = (bytes - head) / LINE;
  if (__builtin_cpu_supports("avx2")) {
    copy_lines_avx2(to + head, from + head, lines);
  } else {
    copy_lines_sse2(to + head, from + head, lines);
  }
  size_t done = head + lines * LINE;
  memcpy(to + done, from + done, bytes - done);
}

/* These stores are not ordered before the later ones that publish the target. */
void dds_end_stream(void) {
  _mm_sfence();
}

#else

int dds_can_stream(void) {
  return 0;
}

void dds_stream_copy(uint8_t *to, const uint8_t *from, size_t bytes) {
  memcpy(to, from, bytes);
}

void dds_end_stream(void) {
}

#endif
