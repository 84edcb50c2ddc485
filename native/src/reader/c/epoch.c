// SPDX-License-Identifier: Apache-2.0
/* Batches of equal size, cut from the order of a sampler: Batching, SharedBatches and ShardBatches in Java. */
#include "epoch.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "grouped.h"
#include "handle.h"
#include "order.h"
#include "row_subset.h"
#include "sampler.h"

/*
 * subset     rows of the samples; NULL: samples are rows
 * order      of all ranks; of this rank's part if parts are contiguous
 * global     samples of a batch of all ranks
 * part       with contiguous parts: first sample of this rank's part
 * drift      with contiguous parts: distance by which all parts have moved
 */
struct dds_epoch {
  const struct dds_subset *subset;
  struct dds_order *order;
  int rank;
  int world;
  int64_t global;
  enum dds_distribution distribution;
  enum dds_tail tail;
  int64_t number;
  int64_t samples;
  int64_t positions;
  int64_t batches;
  int64_t part;
  int64_t drift;
};

static int64_t part_first(int64_t size, int64_t rank, int64_t world) {
  return size / world * rank + size % world * rank / world; /* rank * size / world, without its overflow */
}

int64_t dds_epoch_part_first(const struct dds_epoch *epoch, int64_t size) {
  return part_first(size, epoch->rank, epoch->world);
}

int64_t dds_epoch_part_end(const struct dds_epoch *epoch, int64_t size) {
  return part_first(size, (int64_t)epoch->rank + 1, epoch->world);
}

static int64_t min(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static int64_t limit(int64_t value, int64_t least, int64_t most) {
  return value < least ? least : min(value, most);
}

static int check_batching(const struct dds_batching *batching, int world, int64_t *global, struct dds_error *error) {
  if ((batching->batch_size == 0) == (batching->global_batch_size == 0)) {
    return dds_fail(error, DDS_INVALID_ARGUMENT,
                    "batch_size %s and global_batch_size %s: give one of them, and 0 for the other",
                    GROUPED(batching->batch_size), GROUPED(batching->global_batch_size));
  }
  int64_t size = batching->batch_size != 0 ? batching->batch_size : batching->global_batch_size;
  if (size < 1) {
    return dds_fail(error, DDS_INVALID_ARGUMENT, "%s %s must be at least 1",
                    batching->batch_size != 0 ? "batch_size" : "global_batch_size", GROUPED(size));
  }
  if (world < 1) {
    return dds_fail(error, DDS_INVALID_ARGUMENT, "world %s must be at least 1", GROUPED(world));
  }
  if ((unsigned)batching->distribution > DDS_CONTIGUOUS || (unsigned)batching->tail > DDS_PADDED) {
    return dds_fail(error, DDS_INVALID_ARGUMENT, "distribution %d and tail %d: each must be 0, 1 or 2",
                    (int)batching->distribution, (int)batching->tail);
  }
  *global = size;
  if (batching->batch_size != 0 && __builtin_mul_overflow(size, (int64_t)world, global)) {
    *global = INT64_MAX;
  }
  if (*global < world || *global > INT32_MAX) {
    return dds_fail(error, DDS_INVALID_ARGUMENT,
                    "a global batch of %s sample%s outside [%s, %s]: at least one for each of %d ranks",
                    GROUPED(*global), *global == 1 ? "" : "s", GROUPED(world), GROUPED(INT32_MAX), world);
  }
  return DDS_OK;
}

int dds_batching_describe(const struct dds_batching *batching, int world, char text[DDS_MAX_DESCRIPTION],
                          struct dds_error *error) {
  static const char *const TAILS[] = {"", " kept", " padded"};
  int64_t global;
  int code = check_batching(batching, world, &global, error);
  if (code != DDS_OK) {
    return code;
  }
  char order[DDS_MAX_DESCRIPTION];
  char distribution[24] = "";
  batching->sampler->type->describe(batching->sampler, order);
  if (batching->distribution == DDS_STRIDED) {
    snprintf(distribution, sizeof distribution, " strided");
  } else if (batching->distribution == DDS_CONTIGUOUS) {
    snprintf(distribution, sizeof distribution, " contiguous %d", world);
  }
  int length =
      snprintf(text, DDS_MAX_DESCRIPTION, "%s/%" PRId64 "%s%s", order, global, distribution, TAILS[batching->tail]);
  if (length >= DDS_MAX_DESCRIPTION) {
    return dds_fail(error, DDS_TOO_SMALL, "a description of %d bytes: at most %d are possible", length,
                    DDS_MAX_DESCRIPTION - 1);
  }
  return DDS_OK;
}

static int count_batches(struct dds_epoch *epoch, int64_t rows, struct dds_error *error) {
  int64_t positions = epoch->positions;
  int64_t full = positions / epoch->global;
  if (epoch->tail != DDS_DROPPED) {
    epoch->batches = full + (positions % epoch->global == 0 ? 0 : 1);
    return DDS_OK;
  }
  if (full == 0) {
    char ranks[40] = "the rank";
    if (epoch->world != 1) {
      snprintf(ranks, sizeof ranks, "each of %d ranks", epoch->world);
    }
    return dds_fail(error, DDS_INVALID_ARGUMENT,
                    "%s row%s (%s sample%s an epoch) cannot give %s one batch of %s: use smaller batches, fewer ranks, "
                    "or keep or pad the tail",
                    GROUPED(rows), rows == 1 ? "" : "s", GROUPED(positions), positions == 1 ? "" : "s", ranks,
                    GROUPED((epoch->global + epoch->world - 1) / epoch->world));
  }
  epoch->batches = full;
  return DDS_OK;
}

/* Returns the number of positions that are in batches. */
static int64_t positions_read(const struct dds_epoch *epoch) {
  return epoch->tail == DDS_DROPPED ? epoch->batches * epoch->global : epoch->positions;
}

static int check_batch(const struct dds_sampler *sampler, int64_t samples, struct dds_error *error) {
  return sampler->type->check_batch == NULL ? DDS_OK : sampler->type->check_batch(sampler, samples, error);
}

static int open_shared(struct dds_epoch *epoch, const struct dds_sampler *sampler, int64_t rows,
                       struct dds_error *error) {
  int code = check_batch(sampler, epoch->global, error);
  if (code == DDS_OK) {
    code = dds_sampler_positions(sampler, epoch->samples, &epoch->positions, error);
  }
  if (code == DDS_OK) {
    code = count_batches(epoch, rows, error);
  }
  if (code != DDS_OK) {
    return code;
  }
  struct dds_turn turn = {
      .samples = epoch->samples, .number = epoch->number, .dropped = epoch->positions - positions_read(epoch)};
  return sampler->type->order(sampler, &turn, &epoch->order, error);
}

static int check_divisible(const struct dds_epoch *epoch, const struct dds_sampler *sampler, struct dds_error *error) {
  int64_t positions;
  int64_t without;
  int code = dds_sampler_positions(sampler, epoch->samples, &positions, error);
  if (code == DDS_OK) {
    code = dds_sampler_positions(sampler, 0, &without, error);
  }
  if (code != DDS_OK) {
    return code;
  }
  if (positions != epoch->samples || without != 0) {
    char text[DDS_MAX_DESCRIPTION];
    sampler->type->describe(sampler, text);
    return dds_fail(error, DDS_INVALID_ARGUMENT,
                    "sampler %s draws from all samples and cannot order a part of them: use slices or strided", text);
  }
  if (epoch->global % epoch->world != 0) {
    return dds_fail(error, DDS_INVALID_ARGUMENT,
                    "a global batch of %s does not divide into %d contiguous parts: use a multiple of %d",
                    GROUPED(epoch->global), epoch->world, epoch->world);
  }
  return DDS_OK;
}

static int open_part(struct dds_epoch *epoch, const struct dds_sampler *sampler, int64_t rows,
                     struct dds_error *error) {
  int code = check_divisible(epoch, sampler, error);
  if (code == DDS_OK) {
    code = check_batch(sampler, epoch->global / epoch->world, error);
  }
  epoch->positions = epoch->samples;
  if (code == DDS_OK) {
    code = count_batches(epoch, rows, error);
  }
  if (code != DDS_OK) {
    return code;
  }
  int64_t read = positions_read(epoch);
  struct dds_turn all = {.samples = epoch->samples, .number = epoch->number, .dropped = epoch->samples - read};
  epoch->part = dds_epoch_part_first(epoch, read);
  struct dds_turn part = {
      .samples = dds_epoch_part_end(epoch, read) - epoch->part, .number = epoch->number, .part = epoch->rank};
  code = sampler->type->order(sampler, &part, &epoch->order, error);
  return code == DDS_OK ? dds_turn_drift(&all, &epoch->drift, error) : code;
}

int dds_epoch_open(const struct dds_batching *batching, int64_t rows, int rank, int world, int64_t number,
                   struct dds_epoch **epoch, struct dds_error *error) {
  int64_t global;
  int code = check_batching(batching, world, &global, error);
  if (code != DDS_OK) {
    return code;
  }
  if (rank < 0 || rank >= world) {
    return dds_fail(error, DDS_INVALID_ARGUMENT, "rank %d outside [0, %d)", rank, world);
  }
  if (rows < 0 || number < 0) {
    return dds_fail(error, DDS_INVALID_ARGUMENT, "%s rows in epoch %s: both must be at least 0", GROUPED(rows),
                    GROUPED(number));
  }
  const struct dds_subset *subset = dds_sampler_subset(batching->sampler);
  if (subset != NULL && (code = dds_subset_check_within(subset, rows, error)) != DDS_OK) {
    return code;
  }
  struct dds_epoch *opened = calloc(1, sizeof *opened);
  if (opened == NULL) {
    return dds_no_memory_for_order(rows, error);
  }
  opened->subset = subset;
  opened->rank = rank;
  opened->world = world;
  opened->global = global;
  opened->distribution = batching->distribution;
  opened->tail = batching->tail;
  opened->number = number;
  opened->samples = subset != NULL ? dds_subset_size(subset) : rows;
  code = batching->distribution == DDS_CONTIGUOUS ? open_part(opened, batching->sampler, rows, error)
                                                  : open_shared(opened, batching->sampler, rows, error);
  if (code != DDS_OK) {
    dds_epoch_close(opened);
    return code;
  }
  *epoch = opened;
  return DDS_OK;
}

void dds_epoch_close(struct dds_epoch *epoch) {
  if (epoch != NULL) {
    dds_order_free(epoch->order);
    free(epoch);
  }
}

int64_t dds_epoch_batches(const struct dds_epoch *epoch) {
  return epoch->batches;
}

int64_t dds_epoch_samples(const struct dds_epoch *epoch) {
  return epoch->samples;
}

int64_t dds_epoch_positions(const struct dds_epoch *epoch) {
  return epoch->positions;
}

int64_t dds_epoch_number(const struct dds_epoch *epoch) {
  return epoch->number;
}

/* Returns how many of the samples of a shared batch belong to this rank. */
static int64_t own_count(const struct dds_epoch *epoch, int64_t size) {
  return epoch->distribution == DDS_STRIDED ? (size - epoch->rank + epoch->world - 1) / epoch->world
                                            : dds_epoch_part_end(epoch, size) - dds_epoch_part_first(epoch, size);
}

/* Returns the number of samples of a shared batch, without padding. */
static int64_t shared_size(const struct dds_epoch *epoch, int64_t batch) {
  return min(epoch->global, epoch->positions - batch * epoch->global);
}

static int64_t padded_size(const struct dds_epoch *epoch, int64_t batch) {
  return epoch->tail == DDS_PADDED ? epoch->global : shared_size(epoch, batch);
}

static struct dds_batch shared_batch(const struct dds_epoch *epoch, int64_t batch) {
  struct dds_batch info = {.size = own_count(epoch, padded_size(epoch, batch)),
                           .global_size = shared_size(epoch, batch)};
  if (epoch->tail == DDS_PADDED) {
    int64_t first = dds_epoch_part_first(epoch, epoch->global);
    int64_t real = epoch->distribution == DDS_STRIDED
                       ? own_count(epoch, info.global_size)
                       : limit(info.global_size - first, 0, dds_epoch_part_end(epoch, epoch->global) - first);
    info.padding = info.size - real;
  }
  return info;
}

/* Returns the number of samples of a batch of a part, without padding. */
static int64_t part_size(const struct dds_epoch *epoch, int64_t part, int64_t batch) {
  int64_t batch_size = epoch->global / epoch->world;
  return limit(part - batch * batch_size, 0, batch_size);
}

static struct dds_batch part_batch(const struct dds_epoch *epoch, int64_t batch) {
  int64_t real = part_size(epoch, epoch->order->size, batch);
  int64_t size = epoch->tail == DDS_PADDED ? epoch->global / epoch->world : real;
  /* Part lengths differ by one at most; the remainder is the number of longer parts. */
  int64_t read = positions_read(epoch);
  int64_t part = read / epoch->world;
  int64_t longer = read % epoch->world;
  return (struct dds_batch){.size = size,
                            .padding = size - real,
                            .global_size = longer * part_size(epoch, part + 1, batch) +
                                           (epoch->world - longer) * part_size(epoch, part, batch)};
}

static struct dds_batch batch_of(const struct dds_epoch *epoch, int64_t batch) {
  return epoch->distribution == DDS_CONTIGUOUS ? part_batch(epoch, batch) : shared_batch(epoch, batch);
}

int64_t dds_epoch_max_size(const struct dds_epoch *epoch) {
  if (epoch->distribution == DDS_CONTIGUOUS) {
    return epoch->global / epoch->world;
  }
  int64_t full = own_count(epoch, epoch->global);
  if (epoch->batches == 0) {
    return full;
  }
  /* Parts are rounded down: of fewer samples a rank can get one more. */
  int64_t last = shared_batch(epoch, epoch->batches - 1).size;
  return last > full ? last : full;
}

static void fill_shared(struct dds_epoch *epoch, int64_t batch, const struct dds_batch *info, int64_t *samples) {
  int64_t start = batch * epoch->global;
  int64_t real = info->size - info->padding;
  if (epoch->distribution == DDS_STRIDED) {
    for (int64_t i = 0; i < real; i++) {
      samples[i] = start + i * epoch->world + epoch->rank;
    }
    dds_order_replace(epoch->order, samples, (size_t)real);
  } else if (real > 0) {
    dds_order_fill(epoch->order, start + dds_epoch_part_first(epoch, padded_size(epoch, batch)), samples, (size_t)real);
  }
  int64_t again = real > 0 ? samples[real - 1] : 0;
  if (real == 0 && info->size > 0) {
    dds_order_fill(epoch->order, epoch->positions - 1, &again, 1);
  }
  for (int64_t i = real; i < info->size; i++) {
    samples[i] = again;
  }
}

static void move_samples(const struct dds_epoch *epoch, int64_t by, int64_t *samples, size_t count) {
  for (size_t i = 0; i < count; i++) {
    int64_t place = samples[i] + by;
    samples[i] =
        place >= epoch->samples - epoch->drift ? place - (epoch->samples - epoch->drift) : place + epoch->drift;
  }
}

static void fill_part(struct dds_epoch *epoch, int64_t batch, const struct dds_batch *info, int64_t *samples) {
  int64_t real = info->size - info->padding;
  if (real > 0) {
    dds_order_fill(epoch->order, batch * (epoch->global / epoch->world), samples, (size_t)real);
    move_samples(epoch, epoch->part, samples, (size_t)real);
  }
  for (int64_t i = real; i < info->size; i++) {
    samples[i] = real > 0 ? samples[real - 1] : 0;
  }
}

int dds_epoch_batch(struct dds_epoch *epoch, int64_t batch, struct dds_batch *info, int64_t *samples, int64_t *rows,
                    struct dds_error *error) {
  if (batch < 0 || batch >= epoch->batches) {
    return dds_fail(error, DDS_INVALID_ARGUMENT, "batch %s of epoch %s outside [0, %s)", GROUPED(batch),
                    GROUPED(epoch->number), GROUPED(epoch->batches));
  }
  struct dds_batch described = batch_of(epoch, batch);
  if (info != NULL) {
    *info = described;
  }
  int64_t *filled = samples != NULL ? samples : rows;
  if (filled == NULL) {
    return DDS_OK;
  }
  if (epoch->distribution == DDS_CONTIGUOUS) {
    fill_part(epoch, batch, &described, filled);
  } else {
    fill_shared(epoch, batch, &described, filled);
  }
  if (rows == NULL || (epoch->subset == NULL && rows == filled)) {
    return DDS_OK;
  }
  for (int64_t i = 0; i < described.size; i++) {
    rows[i] = epoch->subset != NULL ? dds_subset_row(epoch->subset, filled[i]) : filled[i];
  }
  return DDS_OK;
}

int64_t dds_epoch_dropped(const struct dds_epoch *epoch) {
  return epoch->positions - positions_read(epoch);
}

void dds_epoch_fill_dropped(struct dds_epoch *epoch, int64_t first, int64_t *samples, size_t count) {
  first += positions_read(epoch);
  if (epoch->distribution != DDS_CONTIGUOUS) {
    dds_order_fill(epoch->order, first, samples, count);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    samples[i] = first + (int64_t)i;
  }
  move_samples(epoch, 0, samples, count);
}
