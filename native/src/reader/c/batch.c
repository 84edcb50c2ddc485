// SPDX-License-Identifier: Apache-2.0
/* Reads of batches. */
#include <endian.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cast.h"
#include "clock.h"
#include "reader_state.h"

#define NS_PER_MS INT64_C(1000000)

/* Rounds without a pause while rows are being changed, and the pause after them. */
#define SPINS 1000
#define PAUSE_NS 50000

static int out_of_memory(struct dds_error *error) {
  return dds_fail(error, DDS_OUT_OF_MEMORY, "no memory for the batch");
}

/* Returns the segment of a row; near is a guess. */
static size_t segment_of(const struct dds_reader *reader, int64_t row, size_t near) {
  if (near < reader->handle->segment_count && row >= reader->starts[near] && row < reader->starts[near + 1]) {
    return near;
  }
  size_t low = 0;
  size_t high = reader->handle->segment_count;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (reader->starts[middle] <= row) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

static uint64_t version_of(const struct dds_mapped_segment *segment) {
  return le64toh(__atomic_load_n(segment->version, __ATOMIC_ACQUIRE));
}

static void touch(struct dds_reader *reader, size_t segment) {
  if (reader->seen[segment] != reader->batch) {
    reader->seen[segment] = reader->batch;
    reader->versions[reader->touched_count] = version_of(&reader->mapped[segment]);
    reader->touched[reader->touched_count++] = segment;
  }
}

/* Finds the record of a row in a mapped segment. Returns whether its offsets are in the segment. */
static int locate_mapped(const struct dds_reader *reader, size_t segment, int64_t row, size_t i) {
  const struct dds_mapped_segment *mapped = &reader->mapped[segment];
  int64_t record_bytes = reader->handle->record_bytes;
  if (record_bytes > 0) {
    reader->addresses[i] = (int64_t)(intptr_t)(mapped->rows + row * record_bytes);
    return 1;
  }
  uint64_t begin = le64toh(mapped->offsets[row]);
  uint64_t end = le64toh(mapped->offsets[row + 1]);
  reader->addresses[i] = (int64_t)(intptr_t)(mapped->rows + begin);
  reader->sizes[i] = (int32_t)(end - begin);
  return begin <= end && end <= (uint64_t)mapped->bytes && end - begin <= INT32_MAX;
}

static int reserve(struct dds_reader *reader, size_t count, struct dds_error *error) {
  if (count <= reader->room) {
    return DDS_OK;
  }
  free(reader->addresses);
  free(reader->sizes);
  free(reader->remote_rows);
  reader->addresses = malloc(count * sizeof *reader->addresses);
  reader->sizes = malloc(count * sizeof *reader->sizes);
  reader->remote_rows = malloc(count * sizeof *reader->remote_rows);
  reader->room = reader->addresses == NULL || reader->sizes == NULL || reader->remote_rows == NULL ? 0 : count;
  return reader->room == 0 ? out_of_memory(error) : DDS_OK;
}

/*
 * Finds the records of the rows that are mapped.
 *
 * again  whether the others are known and received already
 */
static int locate(struct dds_reader *reader, const int64_t *indices, size_t count, int again, struct dds_error *error) {
  /* Segments have nearly equal sizes: a product guesses that of a row, without a branch. */
  const double per_row = (double)reader->handle->segment_count / (double)reader->handle->rows;
  reader->batch++;
  reader->touched_count = 0;
  reader->remote_count = again ? reader->remote_count : 0;
  for (size_t i = 0; i < count; i++) {
    if (indices[i] < 0 || indices[i] >= reader->handle->rows) {
      return dds_fail(error, DDS_INVALID_ARGUMENT, "index %lld at position %zu outside [0, %lld) of \"%s\"",
                      (long long)indices[i], i, (long long)reader->handle->rows, reader->handle->name);
    }
    size_t segment = segment_of(reader, indices[i], (size_t)((double)indices[i] * per_row));
    if (reader->mapped[segment].data == NULL) {
      if (!again) {
        reader->remote_rows[reader->remote_count++] =
            (struct dds_remote_row){.segment = segment, .row = indices[i] - reader->starts[segment], .at = i};
      }
      continue;
    }
    touch(reader, segment);
    if (!locate_mapped(reader, segment, indices[i] - reader->starts[segment], i)) {
      return dds_fail(error, DDS_INVALID_HANDLE, "row %lld of \"%s\": its offsets are damaged", (long long)indices[i],
                      reader->handle->name);
    }
  }
  return DDS_OK;
}

/* Receives the rows that are not mapped. */
static int receive(struct dds_reader *reader, int64_t end_ns, struct dds_error *error) {
  dds_reader_forget_connections(reader);
  if (reader->remote == NULL) {
    reader->remote = dds_remote_open(reader->handle);
    if (reader->remote == NULL) {
      return out_of_memory(error);
    }
  }
  return dds_remote_fetch(reader->remote, reader->remote_rows, reader->remote_count, reader->addresses, reader->sizes,
                          end_ns, error);
}

/* Returns the bytes of one row of a fixed field, or of one element of another, in the memory of the caller. */
static size_t target_bytes(const struct dds_field_info *field, const struct dds_target *target) {
  size_t bytes = (size_t)field->element_bytes;
  return target->cast == 0 ? bytes
                           : bytes / dds_dtype_bytes(field->dtype) * dds_dtype_bytes((enum dds_dtype)target->cast);
}

static int check_cast(const struct dds_field_info *field, const struct dds_target *target, struct dds_error *error) {
  if (target->cast == 0) {
    return DDS_OK;
  }
  if (field->kind > DDS_RAGGED || !dds_can_cast(field->dtype, (enum dds_dtype)target->cast)) {
    return dds_fail(error, DDS_INVALID_ARGUMENT,
                    "field \"%s\" cannot be cast: cast int8, uint8, int16, int32, bfloat16, float32 or float64 to "
                    "float32 or bfloat16",
                    field->name);
  }
  if (!isfinite(target->scale) || target->scale == 0) {
    return dds_fail(error, DDS_INVALID_ARGUMENT, "scale %g of field \"%s\" is 0 or not finite", (double)target->scale,
                    field->name);
  }
  return DDS_OK;
}

static int check_targets(struct dds_reader *reader, size_t count, struct dds_target *targets, size_t target_count,
                         struct dds_error *error) {
  for (size_t t = 0; t < target_count; t++) {
    const struct dds_field_info *field = dds_reader_field(reader, targets[t].field);
    if (field == NULL) {
      return dds_fail(error, DDS_INVALID_ARGUMENT, "target %zu: field %d outside [0, %d)", t, targets[t].field,
                      reader->handle->field_count);
    }
    for (size_t other = 0; other < t; other++) {
      if (targets[other].field == targets[t].field) {
        return dds_fail(error, DDS_INVALID_ARGUMENT, "targets %zu and %zu: both are for field \"%s\"", other, t,
                        field->name);
      }
    }
    int code = check_cast(field, &targets[t], error);
    if (code != DDS_OK) {
      return code;
    }
    if (field->kind != DDS_FIXED && targets[t].offsets == NULL) {
      return dds_fail(error, DDS_INVALID_ARGUMENT, "target %zu: field \"%s\" needs offsets", t, field->name);
    }
    if (targets[t].values == NULL && targets[t].value_bytes > 0) {
      return dds_fail(error, DDS_INVALID_ARGUMENT, "target %zu: field \"%s\" has no memory for values", t, field->name);
    }
    size_t row_bytes = target_bytes(field, &targets[t]);
    if (field->kind == DDS_FIXED && targets[t].value_bytes / row_bytes < count) {
      return dds_fail(error, DDS_INVALID_ARGUMENT, "target %zu: %zu rows of field \"%s\" need %zu bytes each, not %zu",
                      t, count, field->name, row_bytes, targets[t].value_bytes);
    }
    targets[t].used_bytes = count * row_bytes;
  }
  return DDS_OK;
}

/* Writes the offsets of ragged fields. Sets which size their values have. */
static int measure(struct dds_reader *reader, const struct dds_records *records, struct dds_target *targets,
                   size_t target_count, struct dds_error *error) {
  const struct dds_handle *handle = reader->handle;
  for (int f = 0; f < handle->field_count; f++) {
    if (reader->ragged_of[f] >= 0) {
      reader->ragged[reader->ragged_of[f]] = (struct dds_ragged){.row_bytes = handle->fields[f].element_bytes};
    }
  }
  memset(reader->totals, 0, reader->ragged_count * sizeof *reader->totals);
  for (size_t t = 0; t < target_count; t++) {
    int number = reader->ragged_of[targets[t].field];
    if (number >= 0) {
      reader->ragged[number].offsets = (int64_t)(intptr_t)targets[t].offsets;
      reader->ragged[number].values = (int64_t)(intptr_t)targets[t].values;
      targets[t].offsets[0] = 0;
    }
  }
  int64_t wrong = dds_measure_ragged(records, reader->sizes, (size_t)reader->first_length, reader->ragged,
                                     reader->ragged_count, reader->totals);
  if (wrong >= 0) {
    return dds_fail(error, DDS_INVALID_HANDLE, "record %lld of the batch contradicts its size", (long long)wrong);
  }
  int small = -1;
  for (size_t t = 0; t < target_count; t++) {
    int number = reader->ragged_of[targets[t].field];
    if (number >= 0) {
      size_t needed = (size_t)reader->totals[number] * target_bytes(&handle->fields[targets[t].field], &targets[t]);
      small = needed > targets[t].value_bytes ? targets[t].field : small;
      targets[t].used_bytes = needed;
    }
  }
  return small < 0 ? DDS_OK
                   : dds_fail(error, DDS_TOO_SMALL, "the values of field \"%s\" need more memory",
                              handle->fields[small].name);
}

/* Finds memory for the values that are to be cast. */
static int plan_casts(struct dds_reader *reader, size_t count, const struct dds_target *targets, size_t target_count,
                      struct dds_error *error) {
  size_t bytes = 0;
  reader->cast_count = 0;
  for (size_t t = 0; t < target_count; t++) {
    if (targets[t].cast != 0) {
      const struct dds_field_info *field = &reader->handle->fields[targets[t].field];
      int number = reader->ragged_of[targets[t].field];
      size_t field_bytes = (number < 0 ? count : (size_t)reader->totals[number]) * (size_t)field->element_bytes;
      reader->casts[reader->cast_count++] = (struct dds_cast_job){
          .target = &targets[t], .at = bytes, .values = field_bytes / dds_dtype_bytes(field->dtype)};
      bytes += (field_bytes + 63) / 64 * 64;
    }
  }
  if (bytes > reader->cast_room) {
    free(reader->cast_memory);
    reader->cast_memory = malloc(bytes);
    reader->cast_room = reader->cast_memory == NULL ? 0 : bytes;
  }
  return bytes > reader->cast_room ? out_of_memory(error) : DDS_OK;
}

/* Returns the address that the values of a target are copied to. */
static int64_t address_of(const struct dds_reader *reader, const struct dds_target *target) {
  for (size_t c = 0; c < reader->cast_count; c++) {
    if (reader->casts[c].target == target) {
      return (int64_t)(intptr_t)(reader->cast_memory + reader->casts[c].at);
    }
  }
  return (int64_t)(intptr_t)target->values;
}

/* Copies the located rows; the caller checks whether they have changed meanwhile. */
static int copy(struct dds_reader *reader, size_t count, struct dds_target *targets, size_t target_count,
                struct dds_error *error) {
  struct dds_records records = {
      .address = reader->addresses, .count = count, .known = count, .first = 0, .batch = count};
  int code = reader->ragged_count == 0 ? DDS_OK : measure(reader, &records, targets, target_count, error);
  if (code == DDS_OK) {
    code = plan_casts(reader, count, targets, target_count, error);
  }
  if (code != DDS_OK) {
    return code;
  }
  size_t fixed = 0;
  for (size_t t = 0; t < target_count; t++) {
    int number = reader->ragged_of[targets[t].field];
    if (number < 0) {
      reader->fixed[fixed++] = (struct dds_field){.offset = reader->offset_of[targets[t].field],
                                                  .bytes = reader->handle->fields[targets[t].field].element_bytes,
                                                  .target = address_of(reader, &targets[t])};
    } else {
      reader->ragged[number].values = address_of(reader, &targets[t]);
    }
  }
  if (fixed > 0) {
    dds_scatter(&records, reader->fixed, fixed);
  }
  if (fixed < target_count) {
    dds_copy_ragged(&records, (size_t)reader->first_length, reader->ragged, reader->ragged_count);
  }
  return DDS_OK;
}

static void cast(struct dds_reader *reader) {
  for (size_t c = 0; c < reader->cast_count; c++) {
    const struct dds_cast_job *job = &reader->casts[c];
    dds_cast(reader->handle->fields[job->target->field].dtype, (enum dds_dtype)job->target->cast, job->target->scale,
             reader->cast_memory + job->at, job->target->values, job->values);
  }
}

/* Returns whether rows were being changed when they were located. */
static int is_changing(const struct dds_reader *reader) {
  for (size_t i = 0; i < reader->touched_count; i++) {
    if ((reader->versions[i] & 1) != 0) {
      return 1;
    }
  }
  return 0;
}

/* Returns whether no row of the batch can have changed since it was located. */
static int is_stable(const struct dds_reader *reader) {
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  for (size_t i = 0; i < reader->touched_count; i++) {
    if (reader->versions[i] != version_of(&reader->mapped[reader->touched[i]])) {
      return 0;
    }
  }
  return 1;
}

/* Returns whether the rows of a mapped segment are freed; then unmaps all: an owner frees its own a moment later. */
static int unmap_gone(struct dds_reader *reader) {
  const size_t segments = reader->handle->segment_count;
  int gone = 0;
  for (size_t s = 0; s < segments; s++) {
    const struct dds_mapped_segment *segment = &reader->mapped[s];
    gone |= segment->data != NULL && __atomic_load_n(segment->gone, __ATOMIC_ACQUIRE) != 0;
  }
  if (gone) {
    for (size_t s = 0; s < segments; s++) {
      dds_segment_unmap(&reader->mapped[s]);
    }
    reader->reach.mapped_segments = 0;
  }
  return gone;
}

static void pause_after(int rounds) {
  if (rounds >= SPINS) {
    nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
  }
}

int dds_reader_get_batch(struct dds_reader *reader, const int64_t *indices, size_t count, struct dds_target *targets,
                         size_t target_count, int64_t deadline_ms, struct dds_error *error) {
  if (error != NULL) {
    *error = (struct dds_error){0};
  }
  if (deadline_ms < 1 || (count > 0 && indices == NULL) || (target_count > 0 && targets == NULL)) {
    return dds_fail(error, DDS_INVALID_ARGUMENT,
                    "dds_reader_get_batch: no indices, no targets, or a deadline of %lld ms", (long long)deadline_ms);
  }
  int code = check_targets(reader, count, targets, target_count, error);
  if (code == DDS_OK) {
    code = reserve(reader, count, error);
  }
  if (reader->gone) {
    return dds_fail(error, DDS_STORE_GONE, "store \"%s\" is gone: it was dropped", reader->handle->name);
  }
  int64_t end_ns = dds_now_ns() + (deadline_ms > INT64_MAX / NS_PER_MS / 2 ? INT64_MAX / 2 : deadline_ms * NS_PER_MS);
  for (int rounds = 0; code == DDS_OK; rounds++) {
    code = locate(reader, indices, count, rounds > 0, error);
    if (code == DDS_OK && rounds == 0 && reader->remote_count > 0) {
      code = receive(reader, end_ns, error);
    }
    if (code != DDS_OK) {
      return code;
    }
    int steady = !is_changing(reader);
    if (steady) {
      code = copy(reader, count, targets, target_count, error);
    }
    if (steady && is_stable(reader)) {
      if (code == DDS_OK) {
        if (error != NULL) {
          *error = (struct dds_error){0}; /* of a round that was repeated */
        }
        cast(reader);
        reader->reach.mapped_rows += (int64_t)(count - reader->remote_count);
        reader->reach.remote_rows += (int64_t)reader->remote_count;
      }
      return code;
    }
    code = DDS_OK;
    reader->gone |= unmap_gone(reader);
    if (reader->gone) {
      return dds_fail(error, DDS_STORE_GONE, "store \"%s\" is gone: it was dropped", reader->handle->name);
    }
    if (dds_now_ns() >= end_ns) {
      return dds_fail(error, DDS_DEADLINE, "rows of \"%s\" have been changing for %lld ms", reader->handle->name,
                      (long long)deadline_ms);
    }
    pause_after(rounds);
  }
  return code;
}
