// SPDX-License-Identifier: Apache-2.0
#include "ddstore_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader_state.h"

#define WHY_BYTES 200

/* Number of forks between the first process and this one: connections of other numbers are the parent's. */
static uint64_t forks;

static void count_fork(void) {
  forks++;
}

static int watches_forks;

static void watch_forks(void) {
  watches_forks = pthread_atfork(NULL, NULL, count_fork) == 0;
}

int dds_reader_version(void) {
  return DDS_READER_VERSION;
}

static int out_of_memory(struct dds_error *error) {
  return dds_fail(error, DDS_OUT_OF_MEMORY, "no memory for the reader");
}

/* Maps what can be mapped. An unreachable segment is an error if there is no port. */
static int map_all(struct dds_reader *reader, struct dds_error *error) {
  const struct dds_handle *handle = reader->handle;
  for (size_t s = 0; s < handle->segment_count; s++) {
    char why[WHY_BYTES] = "mapping is switched off";
    for (size_t c = 0;
         (reader->flags & DDS_PORTS_ONLY) == 0 && c < handle->copy_count && reader->mapped[s].data == NULL; c++) {
      dds_segment_map(handle, &handle->copies[c].segments[s], &reader->mapped[s], why, sizeof why);
    }
    int has_port = 0;
    for (size_t c = 0; c < handle->copy_count; c++) {
      has_port |= handle->copies[c].segments[s].process >= 0;
    }
    if (reader->mapped[s].data == NULL && !has_port) {
      return dds_fail(error, DDS_LOST, "rows [%lld, %lld) of store \"%s\" are lost: %s, and no port: %s",
                      (long long)reader->starts[s], (long long)reader->starts[s + 1], handle->name, why,
                      handle->no_port == NULL ? "the process has ended" : handle->no_port);
    }
    reader->reach.mapped_segments += reader->mapped[s].data != NULL;
  }
  return DDS_OK;
}

static int describe_fields(struct dds_reader *reader, struct dds_error *error) {
  const struct dds_handle *handle = reader->handle;
  size_t count = (size_t)handle->field_count;
  reader->fixed = calloc(count, sizeof *reader->fixed);
  reader->ragged = calloc(count, sizeof *reader->ragged);
  reader->totals = calloc(count, sizeof *reader->totals);
  reader->ragged_of = calloc(count, sizeof *reader->ragged_of);
  reader->offset_of = calloc(count, sizeof *reader->offset_of);
  reader->casts = calloc(count, sizeof *reader->casts);
  reader->row_bytes = calloc(count, sizeof *reader->row_bytes);
  if (reader->fixed == NULL || reader->ragged == NULL || reader->totals == NULL || reader->ragged_of == NULL ||
      reader->offset_of == NULL || reader->casts == NULL || reader->row_bytes == NULL) {
    return out_of_memory(error);
  }
  for (size_t f = 0; f < count; f++) {
    reader->ragged_of[f] = -1;
    if (handle->fields[f].kind == DDS_FIXED) {
      reader->offset_of[f] = reader->first_length;
      reader->first_length += handle->fields[f].element_bytes;
    } else {
      reader->ragged_of[f] = (int)reader->ragged_count++;
    }
  }
  return DDS_OK;
}

static int open_text(struct dds_reader *reader, const char *json, size_t json_bytes, struct dds_error *error) {
  int code = dds_handle_parse(json, json_bytes, &reader->handle, error);
  if (code != DDS_OK) {
    return code;
  }
  size_t segments = reader->handle->segment_count;
  reader->reach.segments = (int64_t)segments;
  reader->starts = calloc(segments + 1, sizeof *reader->starts);
  reader->mapped = calloc(segments, sizeof *reader->mapped);
  reader->touched = calloc(segments, sizeof *reader->touched);
  reader->versions = calloc(segments, sizeof *reader->versions);
  reader->seen = calloc(segments, sizeof *reader->seen);
  if (reader->starts == NULL || reader->mapped == NULL || reader->touched == NULL || reader->versions == NULL ||
      reader->seen == NULL) {
    return out_of_memory(error);
  }
  for (size_t s = 0; s < segments; s++) {
    reader->starts[s + 1] = reader->starts[s] + reader->handle->copies[0].segments[s].rows;
  }
  code = describe_fields(reader, error);
  return code == DDS_OK ? map_all(reader, error) : code;
}

/* Reads a file as far as a handle can be long. */
static int read_text(const char *path, char **text, size_t *bytes, struct dds_error *error) {
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status;
  if (file < 0 || fstat(file, &status) < 0 || !S_ISREG(status.st_mode)) {
    int code = dds_fail(error, DDS_SYSTEM, "handle \"%s\": %s", path, file < 0 ? strerror(errno) : "it is no file");
    if (file >= 0) {
      close(file);
    }
    return code;
  }
  size_t room = (size_t)status.st_size < DDS_MOST_HANDLE ? (size_t)status.st_size + 1 : DDS_MOST_HANDLE + 1;
  *text = malloc(room);
  *bytes = 0;
  ssize_t some = *text == NULL ? 0 : 1;
  while (some > 0 && *bytes < room) {
    some = read(file, *text + *bytes, room - *bytes);
    *bytes += some > 0 ? (size_t)some : 0;
  }
  int failure = errno;
  close(file);
  if (*text == NULL) {
    return out_of_memory(error);
  }
  if (some < 0) {
    sodium_memzero(*text, *bytes);
    free(*text);
    return dds_fail(error, DDS_SYSTEM, "handle \"%s\": %s", path, strerror(failure));
  }
  return DDS_OK;
}

/* Opens a reader of a text; path may be NULL. */
static int open_reader(const char *path, const char *json, size_t json_bytes, int flags, struct dds_reader **reader,
                       struct dds_error *error) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_forks);
  if (!watches_forks) {
    return out_of_memory(error);
  }
  if (sodium_init() < 0) {
    return dds_fail(error, DDS_SYSTEM, "no random numbers");
  }
  struct dds_reader *opened = calloc(1, sizeof *opened);
  if (opened == NULL) {
    return out_of_memory(error);
  }
  opened->flags = flags;
  opened->path = path == NULL ? NULL : strdup(path);
  int code = path != NULL && opened->path == NULL ? out_of_memory(error) : open_text(opened, json, json_bytes, error);
  if (code != DDS_OK) {
    dds_reader_close(opened);
    return code;
  }
  *reader = opened;
  return DDS_OK;
}

int dds_reader_open(const char *json, size_t json_bytes, int flags, struct dds_reader **reader,
                    struct dds_error *error) {
  if (error != NULL) {
    *error = (struct dds_error){0};
  }
  if (reader != NULL) {
    *reader = NULL;
  }
  if (json == NULL || reader == NULL || (flags & ~DDS_PORTS_ONLY) != 0) {
    return dds_fail(error, DDS_INVALID_ARGUMENT, "dds_reader_open: no text, no reader, or unknown flags");
  }
  return open_reader(NULL, json, json_bytes, flags, reader, error);
}

static int open_path(const char *path, int flags, struct dds_reader **reader, struct dds_error *error) {
  char *text = NULL;
  size_t bytes = 0;
  int code = read_text(path, &text, &bytes, error);
  if (code == DDS_OK) {
    code = open_reader(path, text, bytes, flags, reader, error);
    sodium_memzero(text, bytes);
    free(text);
  }
  return code;
}

int dds_reader_open_file(const char *path, int flags, struct dds_reader **reader, struct dds_error *error) {
  if (error != NULL) {
    *error = (struct dds_error){0};
  }
  if (reader != NULL) {
    *reader = NULL;
  }
  if (path == NULL || reader == NULL || (flags & ~DDS_PORTS_ONLY) != 0) {
    return dds_fail(error, DDS_INVALID_ARGUMENT, "dds_reader_open_file: no path, no reader, or unknown flags");
  }
  return open_path(path, flags, reader, error);
}

static int has_same_fields(const struct dds_handle *handle, const struct dds_handle *other) {
  int same = handle->field_count == other->field_count;
  for (int f = 0; same && f < handle->field_count; f++) {
    const struct dds_field_info *one = &handle->fields[f];
    const struct dds_field_info *two = &other->fields[f];
    same = strcmp(one->name, two->name) == 0 && one->kind == two->kind && one->dtype == two->dtype &&
           one->dimensions == two->dimensions && memcmp(one->shape, two->shape, sizeof one->shape) == 0;
  }
  return same;
}

int dds_reader_refresh(struct dds_reader *reader, int *changed, struct dds_error *error) {
  if (error != NULL) {
    *error = (struct dds_error){0};
  }
  if (reader->path == NULL) {
    return dds_fail(error, DDS_INVALID_ARGUMENT, "dds_reader_refresh: the handle was given as text, not as a file");
  }
  struct dds_reader *next;
  int code = open_path(reader->path, reader->flags, &next, error);
  if (code != DDS_OK) {
    return code;
  }
  if (!has_same_fields(reader->handle, next->handle)) {
    dds_reader_close(next);
    return dds_fail(error, DDS_INVALID_HANDLE, "handle \"%s\": its store has other fields now; open another reader",
                    reader->path);
  }
  int same = memcmp(reader->handle->store, next->handle->store, DDS_ID_BYTES) == 0 &&
             reader->handle->state == next->handle->state &&
             reader->handle->claims_bytes == next->handle->claims_bytes &&
             memcmp(reader->handle->claims, next->handle->claims, next->handle->claims_bytes) == 0;
  if (!same) {
    struct dds_reader former = *reader;
    next->reach.mapped_rows = former.reach.mapped_rows;
    next->reach.remote_rows = former.reach.remote_rows;
    *reader = *next;
    *next = former;
  }
  dds_reader_close(next);
  if (changed != NULL) {
    *changed = !same;
  }
  return DDS_OK;
}

void dds_reader_forget_connections(struct dds_reader *reader) {
  if (reader->remote != NULL && reader->forks != forks) {
    dds_remote_forked(reader->remote);
  }
  reader->forks = forks;
}

void dds_reader_close(struct dds_reader *reader) {
  if (reader == NULL) {
    return;
  }
  for (size_t s = 0; reader->mapped != NULL && s < reader->handle->segment_count; s++) {
    dds_segment_unmap(&reader->mapped[s]);
  }
  dds_reader_forget_connections(reader);
  dds_remote_close(reader->remote);
  dds_handle_free(reader->handle);
  free(reader->remote_rows);
  free(reader->starts);
  free(reader->mapped);
  free(reader->touched);
  free(reader->versions);
  free(reader->seen);
  free(reader->addresses);
  free(reader->sizes);
  free(reader->fixed);
  free(reader->ragged);
  free(reader->totals);
  free(reader->ragged_of);
  free(reader->offset_of);
  free(reader->casts);
  free(reader->row_bytes);
  free(reader->cast_memory);
  free(reader->path);
  free(reader);
}

const char *dds_reader_name(const struct dds_reader *reader) {
  return reader->handle->name;
}

const char *dds_reader_digest(const struct dds_reader *reader) {
  return reader->handle->digest;
}

int64_t dds_reader_rows(const struct dds_reader *reader) {
  return reader->handle->rows;
}

int dds_reader_fields(const struct dds_reader *reader) {
  return reader->handle->field_count;
}

const struct dds_field_info *dds_reader_field(const struct dds_reader *reader, int field) {
  return field < 0 || field >= reader->handle->field_count ? NULL : &reader->handle->fields[field];
}

struct dds_reach dds_reader_reach(const struct dds_reader *reader) {
  return reader->reach;
}
