// SPDX-License-Identifier: Apache-2.0
/*
 * Sums of the samples that a rank has received: per bucket of consecutive samples a count and a keyed 128-bit hash.
 * Coverage in Java. Counts and plain sums alone would miss lost samples that others compensate for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "epoch.h"
#include "grouped.h"
#include "handle.h"
#include "keyed_hash.h"

#define MOST_BUCKETS 1024
#define PER_BUCKET 3
#define MOST_NAMED 8

/* Samples that are read together. */
#define TOGETHER 1024

enum { DELIVERED, DROPPED, PADDED, TOTALS };

/*
 * shift  maps a sample to its bucket; bucket sizes are powers of two
 * sums   wrap modulo 2^64
 */
struct dds_coverage {
  int64_t samples;
  int shift;
  uint64_t high_key;
  uint64_t low_key;
  size_t size;
  uint64_t sums[];
};

static size_t buckets(int64_t samples, int shift) {
  return (size_t)((uint64_t)samples + ((UINT64_C(1) << shift) - 1)) >> shift;
}

int dds_coverage_open(const struct dds_epoch *epoch, struct dds_coverage **coverage, struct dds_error *error) {
  int64_t samples = dds_epoch_samples(epoch);
  int shift = 0;
  while ((uint64_t)samples > (uint64_t)MOST_BUCKETS << shift) {
    shift++;
  }
  size_t size = TOTALS + PER_BUCKET * buckets(samples, shift);
  struct dds_coverage *opened = calloc(1, sizeof *opened + size * sizeof opened->sums[0]);
  if (opened == NULL) {
    return dds_fail(error, DDS_OUT_OF_MEMORY, "no memory for the coverage of %s samples", GROUPED(samples));
  }
  uint64_t key = dds_key((uint64_t)dds_epoch_number(epoch));
  opened->samples = samples;
  opened->shift = shift;
  opened->high_key = dds_key_add(key, 0);
  opened->low_key = dds_key_add(key, 1);
  opened->size = size;
  *coverage = opened;
  return DDS_OK;
}

void dds_coverage_close(struct dds_coverage *coverage) {
  free(coverage);
}

size_t dds_coverage_size(const struct dds_coverage *coverage) {
  return coverage->size;
}

static uint64_t high(const struct dds_coverage *coverage, int64_t sample) {
  return dds_mix(coverage->high_key ^ (uint64_t)sample);
}

static uint64_t low(const struct dds_coverage *coverage, int64_t sample) {
  return dds_mix(coverage->low_key ^ (uint64_t)sample);
}

/* Adds a sample times 1 or -1. */
static void add(const struct dds_coverage *coverage, uint64_t *sums, int64_t sample, uint64_t sign) {
  uint64_t *bucket = sums + TOTALS + PER_BUCKET * (size_t)(sample >> coverage->shift);
  bucket[0] += sign;
  bucket[1] += sign * high(coverage, sample);
  bucket[2] += sign * low(coverage, sample);
}

int dds_coverage_deliver(struct dds_coverage *coverage, const int64_t *samples, size_t count, size_t padding,
                         struct dds_error *error) {
  if (padding > count) {
    return dds_fail(error, DDS_INVALID_ARGUMENT, "%zu samples of padding of %zu samples: at most all", padding, count);
  }
  for (size_t i = 0; i < count; i++) {
    if (samples[i] < 0 || samples[i] >= coverage->samples) {
      return dds_fail(error, DDS_INVALID_ARGUMENT, "sample %s outside [0, %s)", GROUPED(samples[i]),
                      GROUPED(coverage->samples));
    }
  }
  for (size_t i = 0; i < count - padding; i++) {
    add(coverage, coverage->sums, samples[i], 1);
  }
  coverage->sums[DELIVERED] += count - padding;
  coverage->sums[PADDED] += padding;
  return DDS_OK;
}

/* Adds the batches before one. */
static int add_batches(const struct dds_coverage *coverage, struct dds_epoch *epoch, int64_t before, uint64_t *sums,
                       struct dds_error *error) {
  int64_t *samples = malloc((size_t)dds_epoch_max_size(epoch) * sizeof *samples + 1);
  if (samples == NULL) {
    return dds_fail(error, DDS_OUT_OF_MEMORY, "no memory for a batch of %s samples",
                    GROUPED(dds_epoch_max_size(epoch)));
  }
  int code = DDS_OK;
  for (int64_t batch = 0; code == DDS_OK && batch < before; batch++) {
    struct dds_batch info;
    code = dds_epoch_batch(epoch, batch, &info, samples, NULL, error);
    for (int64_t i = 0; code == DDS_OK && i < info.size - info.padding; i++) {
      add(coverage, sums, samples[i], 1);
    }
    if (code == DDS_OK) {
      sums[DELIVERED] += (uint64_t)(info.size - info.padding);
      sums[PADDED] += (uint64_t)info.padding;
    }
  }
  free(samples);
  return code;
}

/* Adds this rank's part of the samples that no rank reads. */
static void add_dropped(const struct dds_coverage *coverage, struct dds_epoch *epoch, uint64_t *sums) {
  int64_t samples[TOGETHER];
  int64_t dropped = dds_epoch_dropped(epoch);
  int64_t end = dds_epoch_part_end(epoch, dropped);
  for (int64_t first = dds_epoch_part_first(epoch, dropped); first < end; first += TOGETHER) {
    size_t count = (size_t)(end - first < TOGETHER ? end - first : TOGETHER);
    dds_epoch_fill_dropped(epoch, first, samples, count);
    for (size_t i = 0; i < count; i++) {
      add(coverage, sums, samples[i], 1);
    }
    sums[DROPPED] += count;
  }
}

int dds_coverage_sums(const struct dds_coverage *coverage, struct dds_epoch *epoch, int64_t from, int64_t *sums,
                      struct dds_error *error) {
  if (dds_epoch_samples(epoch) != coverage->samples) {
    return dds_fail(error, DDS_INVALID_ARGUMENT, "an epoch of %s samples, but a coverage of %s: give its own epoch",
                    GROUPED(dds_epoch_samples(epoch)), GROUPED(coverage->samples));
  }
  if (from < 0 || from > dds_epoch_batches(epoch)) {
    return dds_fail(error, DDS_INVALID_ARGUMENT, "batch %s of epoch %s outside [0, %s]", GROUPED(from),
                    GROUPED(dds_epoch_number(epoch)), GROUPED(dds_epoch_batches(epoch)));
  }
  uint64_t *added = (uint64_t *)sums;
  memcpy(added, coverage->sums, coverage->size * sizeof *added);
  int code = from > 0 ? add_batches(coverage, epoch, from, added, error) : DDS_OK;
  if (code != DDS_OK) {
    return code;
  }
  add_dropped(coverage, epoch, added);
  int64_t end = dds_epoch_part_end(epoch, coverage->samples);
  for (int64_t sample = dds_epoch_part_first(epoch, coverage->samples); sample < end; sample++) {
    add(coverage, added, sample, UINT64_MAX);
  }
  return DDS_OK;
}

/* Returns the one sample of a bucket that alone explains the difference, or -1. */
static int64_t only_one(const struct dds_coverage *coverage, int64_t first, int64_t end, const int64_t *bucket) {
  if (bucket[0] == 1 || bucket[0] == -1) {
    uint64_t sign = (uint64_t)bucket[0];
    for (int64_t sample = first; sample < end; sample++) {
      if ((uint64_t)bucket[1] == sign * high(coverage, sample) && (uint64_t)bucket[2] == sign * low(coverage, sample)) {
        return sample;
      }
    }
  }
  return -1;
}

static void name_bucket(const struct dds_coverage *coverage, size_t number, const int64_t *bucket, char text[120]) {
  int64_t first = (int64_t)number << coverage->shift;
  int64_t size = INT64_C(1) << coverage->shift;
  int64_t end = coverage->samples - first < size ? coverage->samples : first + size;
  int64_t only = only_one(coverage, first, end, bucket);
  int64_t surplus = bucket[0];
  if (only >= 0) {
    snprintf(text, 120, "sample %s %s", GROUPED(only), surplus < 0 ? "lost" : "repeated");
  } else if (surplus == 0) {
    snprintf(text, 120, "[%s, %s): some lost, as many repeated", GROUPED(first), GROUPED(end));
  } else {
    snprintf(text, 120, "[%s, %s): %s or more %s", GROUPED(first), GROUPED(end),
             GROUPED(surplus < 0 ? (int64_t)(0 - (uint64_t)surplus) : surplus), surplus < 0 ? "lost" : "repeated");
  }
}

void dds_coverage_receipt(const struct dds_coverage *coverage, const int64_t *sums,
                          struct dds_coverage_receipt *receipt) {
  *receipt = (struct dds_coverage_receipt){
      .samples = coverage->samples, .delivered = sums[DELIVERED], .dropped = sums[DROPPED], .padded = sums[PADDED]};
  char named[MOST_NAMED * 122] = "";
  size_t wrong = 0;
  uint64_t repeated = 0;
  uint64_t lost = 0;
  for (size_t number = 0; number < buckets(coverage->samples, coverage->shift); number++) {
    const int64_t *bucket = sums + TOTALS + PER_BUCKET * number;
    if (bucket[0] == 0 && bucket[1] == 0 && bucket[2] == 0) {
      continue;
    }
    repeated += bucket[0] > 0 ? (uint64_t)bucket[0] : 0;
    lost += bucket[0] < 0 ? 0 - (uint64_t)bucket[0] : 0;
    if (wrong < MOST_NAMED) {
      char text[120];
      name_bucket(coverage, number, bucket, text);
      size_t used = strlen(named);
      snprintf(named + used, sizeof named - used, "%s%s", wrong == 0 ? "" : ", ", text);
    }
    wrong++;
  }
  receipt->exact = wrong == 0;
  receipt->repeated = (int64_t)repeated;
  receipt->lost = (int64_t)lost;
  int length = snprintf(receipt->text, sizeof receipt->text, "%s sample%s", GROUPED(coverage->samples),
                        coverage->samples == 1 ? "" : "s");
  if (wrong == 0) {
    length += snprintf(receipt->text + length, sizeof receipt->text - (size_t)length, ", each %s once",
                       receipt->dropped == 0 ? "exactly" : "at most");
  } else {
    length += snprintf(receipt->text + length, sizeof receipt->text - (size_t)length, ", not each once: %s%s", named,
                       wrong > MOST_NAMED ? " and in other buckets" : "");
  }
  snprintf(receipt->text + length, sizeof receipt->text - (size_t)length, "; %s delivered, %s dropped, %s padded",
           GROUPED(receipt->delivered), GROUPED(receipt->dropped), GROUPED(receipt->padded));
}
