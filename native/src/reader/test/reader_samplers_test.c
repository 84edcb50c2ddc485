// SPDX-License-Identifier: Apache-2.0
/* Samplers against the values of Java in goldens.txt, and what hostile or wrong arguments cause. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../test/c/check.h"
#include "ddstore_reader.h"

/* Number of ranks whose states are in the file; receipts are there for the others. */
#define STATED 3

#define MOST_BATCHES 20
#define MOST_SUMMED 1000000
#define START UINT64_C(0xcbf29ce484222325)

static struct dds_error error;
static FILE *goldens;
static char line[8192];

static int next_line(void) {
  if (fgets(line, sizeof line, goldens) == NULL) {
    return 0;
  }
  line[strcspn(line, "\n")] = '\0';
  return 1;
}

static int begins(const char *word) {
  return strncmp(line, word, strlen(word)) == 0;
}

/* Fails with the expected line, so that a difference can be seen. */
static void expect(const char *word, const char *actual) {
  CHECK(next_line() && begins(word));
  if (strcmp(line + strlen(word), actual) != 0) {
    fprintf(stderr, "expected %s\nactual   %s%s\n", line, word, actual);
    CHECK(0);
  }
}

static uint64_t hash(uint64_t hash, int64_t value) {
  for (int shift = 0; shift < 64; shift += 8) {
    hash = (hash ^ ((uint64_t)value >> shift & 0xff)) * UINT64_C(0x100000001b3);
  }
  return hash;
}

static int32_t *numbers(size_t count, int64_t bound) {
  int32_t *numbers = malloc(count * sizeof *numbers);
  uint64_t x = 1;
  for (size_t i = 0; i < count; i++) {
    x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    numbers[i] = (int32_t)((x >> 33) % (uint64_t)bound);
  }
  return numbers;
}

/* The numbers that follow the first word of a line. */
static size_t split(const char *text, double *values, size_t most) {
  size_t count = 0;
  for (char *end; count < most; text = end) {
    values[count] = strtod(text, &end);
    if (end == text) {
      break;
    }
    count++;
  }
  return count;
}

static struct dds_sampler *weighted_sampler(int64_t seed, const double *of) {
  size_t count = (size_t)of[3];
  int32_t *values = numbers(count, (int64_t)of[4]);
  double *weights = malloc(count * sizeof *weights);
  for (size_t i = 0; i < count; i++) {
    int power = ((int)(i % 7) - 3) * (int)of[5];
    uint64_t bits = (uint64_t)(1023 + power) << 52; /* 2^power */
    double scale;
    memcpy(&scale, &bits, sizeof scale);
    weights[i] = values[i] * scale;
  }
  struct dds_sampler *sampler;
  CHECK(dds_sampler_weighted(seed, weights, count, (int64_t)of[1], (int)of[2], &sampler, &error) == DDS_OK);
  free(values);
  free(weights);
  return sampler;
}

static struct dds_sampler *class_sampler(int64_t seed, const double *of) {
  size_t count = (size_t)of[3];
  int32_t *labels = numbers(count, (int64_t)of[4]);
  for (size_t i = 0; i < count; i++) {
    labels[i] *= (int32_t)of[5];
  }
  struct dds_sampler *sampler;
  CHECK(dds_sampler_class_balanced(seed, labels, count, of[6] > 0 ? of + 7 : NULL, (size_t)of[6], (int64_t)of[2],
                                   (int64_t)of[1], of[1] >= 0, &sampler, &error) == DDS_OK);
  free(labels);
  return sampler;
}

static struct dds_sampler *sampler_of(const char *words) {
  struct dds_sampler *sampler = NULL;
  double of[32] = {0};
  const char *space = strchr(words, ' ');
  int64_t seed = space != NULL ? strtoll(space, NULL, 10) : 0;
  if (space != NULL) {
    split(space, of, 32);
  }
  if (strcmp(words, "sequential") == 0) {
    CHECK(dds_sampler_sequential(&sampler, &error) == DDS_OK);
  } else if (strncmp(words, "shuffled", 8) == 0) {
    CHECK(dds_sampler_shuffled(seed, &sampler, &error) == DDS_OK);
  } else if (strncmp(words, "chunked", 7) == 0) {
    CHECK(dds_sampler_chunked(seed, (int64_t)of[1], (int64_t)of[2], &sampler, &error) == DDS_OK);
  } else {
    sampler = strncmp(words, "weighted", 8) == 0 ? weighted_sampler(seed, of) : class_sampler(seed, of);
  }
  return sampler;
}

static struct dds_subset *subset_of(void) {
  double of[64];
  struct dds_subset *subset;
  int64_t *bounds;
  size_t runs;
  if (begins("within ")) {
    size_t count = split(line + 7, of, 64);
    runs = (size_t)of[0];
    CHECK(count == 2 * runs + 1);
    bounds = malloc(2 * runs * sizeof *bounds);
    for (size_t i = 0; i < 2 * runs; i++) {
      bounds[i] = (int64_t)of[i + 1];
    }
    CHECK(dds_subset_of_ranges(bounds, runs, &subset, &error) == DDS_OK);
  } else {
    CHECK(split(line + 6, of, 3) == 3);
    runs = (size_t)of[0];
    int64_t length = (int64_t)of[2];
    bounds = malloc(runs * (size_t)length * sizeof *bounds);
    for (int64_t i = 0; i < (int64_t)runs * length; i++) {
      bounds[i] = i / length * (int64_t)of[1] + i % length;
    }
    CHECK(dds_subset_of_rows(bounds, runs * (size_t)length, &subset, &error) == DDS_OK);
  }
  free(bounds);
  return subset;
}

/* Adds the sums of a rank that was resumed in the middle of the epoch. */
static void add_sums(struct dds_epoch *epoch, int64_t *total, struct dds_coverage **coverage) {
  CHECK(dds_coverage_open(epoch, coverage, &error) == DDS_OK);
  int64_t from = dds_epoch_batches(epoch) / 2;
  int64_t *samples = malloc((size_t)dds_epoch_max_size(epoch) * sizeof *samples + 1);
  for (int64_t batch = from; batch < dds_epoch_batches(epoch); batch++) {
    struct dds_batch info;
    CHECK(dds_epoch_batch(epoch, batch, &info, samples, NULL, &error) == DDS_OK);
    CHECK(dds_coverage_deliver(*coverage, samples, (size_t)info.size, (size_t)info.padding, &error) == DDS_OK);
  }
  size_t size = dds_coverage_size(*coverage);
  int64_t *sums = malloc(size * sizeof *sums);
  CHECK(dds_coverage_sums(*coverage, epoch, from, sums, &error) == DDS_OK);
  for (size_t i = 0; i < size; i++) {
    total[i] = (int64_t)((uint64_t)total[i] + (uint64_t)sums[i]);
  }
  free(samples);
  free(sums);
}

/* Adds the batches of a rank to a hash. */
static uint64_t hash_batches(uint64_t found, struct dds_epoch *epoch, int last_rank) {
  size_t bytes = (size_t)dds_epoch_max_size(epoch) * sizeof(int64_t) + 1;
  int64_t *samples = malloc(bytes);
  int64_t *rows = malloc(bytes);
  int64_t batches = dds_epoch_batches(epoch);
  found = hash(hash(hash(found, batches), dds_epoch_max_size(epoch)), dds_epoch_positions(epoch));
  for (int64_t i = 0; i < MOST_BATCHES && i < batches; i++) {
    int64_t number = batches - 1 - (batches <= MOST_BATCHES ? i : batches / MOST_BATCHES * i);
    struct dds_batch info;
    CHECK(dds_epoch_batch(epoch, number, &info, samples, rows, &error) == DDS_OK);
    found = hash(hash(hash(found, info.size), info.padding), info.global_size);
    for (int64_t k = 0; k < info.size; k++) {
      found = hash(found, samples[k]);
    }
    for (int64_t k = 0; k < info.size; k++) {
      found = hash(found, rows[k]);
    }
    if (last_rank && i == 0 && info.size <= 8) {
      char text[300] = "";
      for (int64_t k = 0; k < info.size; k++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), " %" PRId64, rows[k]);
      }
      expect("last", text);
    }
  }
  free(samples);
  free(rows);
  return found;
}

static void check_state(const struct dds_batching *batching, int64_t rows, int world, int64_t number) {
  static const char *const FIELDS[] = {"\xef\xbf\xae", "x", "\xf0\x9f\x98\x80"};
  static const char *const SHAPES[] = {"pad"};
  char text[DDS_MAX_DESCRIPTION];
  char json[DDS_MAX_STATE];
  CHECK(dds_batching_describe(batching, world, text, &error) == DDS_OK);
  struct dds_state state = {.epoch = number,
                            .batch = 1,
                            .rows = rows,
                            .version = number % 3,
                            .sampling = text,
                            .schema = "1f3a9c04",
                            .digest = number % 4 == 0 ? "" : "0123456789abcdeffedc"};
  if (number % 2 == 1) {
    state.fields = (struct dds_choice){FIELDS, 3};
    state.shapes = (struct dds_choice){SHAPES, 1};
  }
  CHECK(dds_state_write(&state, json, sizeof json, &error) == DDS_OK);
  expect("state ", json);
  int64_t epoch = -1;
  int64_t batch = -1;
  CHECK(dds_state_resume(line + 6, strlen(line + 6), &state, &epoch, &batch, &error) == DDS_OK);
  CHECK(epoch == number && batch == 1);
  char saved[DDS_MAX_STATE];
  memcpy(saved, json, sizeof saved);
  char worlds[20] = "";
  for (int other = 1; other <= 6; other += other == 1 ? 1 : 4) { /* 1, 2, 6 */
    CHECK(dds_batching_describe(batching, other, text, &error) == DDS_OK);
    int code = dds_state_resume(saved, strlen(saved), &state, &epoch, &batch, &error);
    CHECK(code == DDS_OK || code == DDS_INVALID_ARGUMENT);
    snprintf(worlds + strlen(worlds), sizeof worlds - strlen(worlds), code == DDS_OK ? " %d" : "", other);
  }
  expect("worlds", worlds);
}

static void check_epoch(const struct dds_sampler *sampler) {
  double of[7];
  CHECK(split(line + 6, of, 7) == 7);
  int64_t rows = (int64_t)of[0];
  int world = (int)of[1];
  int64_t number = (int64_t)of[6];
  struct dds_batching batching = {.sampler = sampler,
                                  .batch_size = (int64_t)of[2],
                                  .global_batch_size = (int64_t)of[3],
                                  .distribution = (enum dds_distribution)of[4],
                                  .tail = (enum dds_tail)of[5]};
  char text[1300];
  CHECK(dds_batching_describe(&batching, world, text, &error) == DDS_OK);
  expect("text ", text);
  int64_t *total = calloc(4000, sizeof *total);
  struct dds_coverage *coverage = NULL;
  int summed = 1;
  uint64_t batches = START;
  for (int rank = 0; rank < world; rank++) {
    struct dds_epoch *epoch;
    CHECK(dds_epoch_open(&batching, rows, rank, world, number, &epoch, &error) == DDS_OK);
    batches = hash_batches(batches, epoch, rank == world - 1);
    summed = dds_epoch_samples(epoch) <= MOST_SUMMED;
    if (summed) {
      dds_coverage_close(coverage);
      add_sums(epoch, total, &coverage);
    }
    dds_epoch_close(epoch);
  }
  snprintf(text, sizeof text, "%016" PRIx64, batches);
  expect("ranks ", text);
  if (summed) {
    uint64_t found = START;
    for (size_t i = 0; i < dds_coverage_size(coverage); i++) {
      found = hash(found, total[i]);
    }
    snprintf(text, sizeof text, "%016" PRIx64, found);
    expect("sums ", text);
    if (world != STATED) {
      struct dds_coverage_receipt receipt;
      dds_coverage_receipt(coverage, total, &receipt);
      expect("receipt ", receipt.text);
    }
  }
  dds_coverage_close(coverage);
  free(total);
  if (world == STATED) {
    check_state(&batching, rows, world, number);
  }
}

static int check_goldens(void) {
  goldens = fopen(DDS_GOLDENS, "r");
  CHECK(goldens != NULL);
  struct dds_sampler *samplers[4] = {NULL};
  int depth = 0;
  int epochs = 0;
  while (next_line()) {
    if (begins("sampler ")) {
      for (int i = 3; i >= 0; i--) {
        dds_sampler_free(samplers[i]);
        samplers[i] = NULL;
      }
      depth = 0;
      samplers[0] = sampler_of(line + 8);
    } else if (begins("within ") || begins("every ")) {
      struct dds_subset *subset = subset_of();
      CHECK(depth < 3);
      CHECK(dds_sampler_within(samplers[depth], subset, &samplers[depth + 1], &error) == DDS_OK);
      dds_subset_free(subset);
      depth++;
    } else {
      CHECK(begins("epoch "));
      check_epoch(samplers[depth]);
      epochs++;
    }
  }
  for (int i = 3; i >= 0; i--) {
    dds_sampler_free(samplers[i]);
  }
  fclose(goldens);
  return epochs;
}

static void refused(const char *json, size_t length, const char *message) {
  struct dds_state here = {.rows = 20000, .sampling = "shuffled(42)/256", .schema = "1f3a9c04", .digest = ""};
  int64_t epoch;
  int64_t batch;
  char *copy = malloc(length + 1); /* of its own size, so that a read beyond the end is detected */
  memcpy(copy, json, length);
  copy = realloc(copy, length > 0 ? length : 1);
  CHECK(dds_state_resume(copy, length, &here, &epoch, &batch, &error) == DDS_INVALID_ARGUMENT);
  CHECK(strstr(error.text, message) != NULL);
  free(copy);
}

static void check_hostile_states(void) {
  static const char JSON[] = "{\"v\":2,\"e\":3,\"b\":120,\"n\":20000,\"s\":\"shuffled(42)/512\","
                             "\"d\":\"1f3a9c04.0123456789abcdef\",\"c\":\"6dc4a378\"}";
  for (size_t end = 0; end < sizeof JSON - 1; end++) {
    refused(JSON, end, "");
  }
  refused(JSON, sizeof JSON, "not a JSON object");
  refused(JSON, sizeof JSON - 1, "use global_batch_size 512");
  char changed[sizeof JSON];
  for (size_t at = 0; at < sizeof JSON - 1; at++) {
    for (int c = 0; c < 256; c++) {
      memcpy(changed, JSON, sizeof JSON);
      changed[at] = (char)c;
      refused(changed, sizeof JSON - 1, "");
    }
  }
  refused("{\"v\":3}", 7, "state version 3 is not supported, expected 1 or 2");
  refused("{\"a\":\"\\x0041\"}", 14, "not a JSON object");
}

static void check_mistakes(void) {
  struct dds_sampler *sampler;
  struct dds_epoch *epoch;
  CHECK(dds_sampler_chunked(1, 0, 1, &sampler, &error) == DDS_INVALID_ARGUMENT);
  CHECK(strstr(error.text, "block_rows 0 must be at least 1") != NULL);
  double weights[] = {1, NAN};
  CHECK(dds_sampler_weighted(1, weights, 2, 1, 1, &sampler, &error) == DDS_INVALID_ARGUMENT);
  CHECK(dds_sampler_weighted(1, weights, 1, 2, 0, &sampler, &error) == DDS_INVALID_ARGUMENT);
  CHECK(dds_sampler_class_balanced(1, NULL, 0, NULL, 0, 1, 0, 0, &sampler, &error) == DDS_INVALID_ARGUMENT);
  CHECK(dds_sampler_weighted(1, weights, 1, 5, 1, &sampler, &error) == DDS_OK);
  struct dds_batching batching = {.sampler = sampler, .batch_size = 1, .distribution = DDS_CONTIGUOUS};
  CHECK(dds_epoch_open(&batching, 1, 0, 1, 0, &epoch, &error) == DDS_INVALID_ARGUMENT);
  CHECK(strstr(error.text, "draws from all samples") != NULL);
  batching.distribution = DDS_SLICES;
  CHECK(dds_epoch_open(&batching, 2, 0, 1, 0, &epoch, &error) == DDS_INVALID_ARGUMENT);
  CHECK(dds_epoch_open(&batching, 1, 1, 1, 0, &epoch, &error) == DDS_INVALID_ARGUMENT);
  CHECK(dds_epoch_open(&batching, 1, 0, 6, 0, &epoch, &error) == DDS_INVALID_ARGUMENT);
  CHECK(strstr(error.text, "1 row (5 samples an epoch) cannot give each of 6 ranks one batch of 1") != NULL);
  CHECK(dds_epoch_open(&batching, 1, 0, 1, 0, &epoch, &error) == DDS_OK);
  int64_t samples[1] = {-1};
  struct dds_coverage *coverage;
  CHECK(dds_epoch_batch(epoch, 5, NULL, samples, NULL, &error) == DDS_INVALID_ARGUMENT);
  CHECK(dds_coverage_open(epoch, &coverage, &error) == DDS_OK);
  CHECK(dds_coverage_deliver(coverage, samples, 1, 0, &error) == DDS_INVALID_ARGUMENT);
  dds_coverage_close(coverage);
  dds_epoch_close(epoch);
  dds_sampler_free(sampler);
}

int main(void) {
  CHECK(check_goldens() > 100);
  check_hostile_states();
  check_mistakes();
  return 0;
}
