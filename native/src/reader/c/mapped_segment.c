// SPDX-License-Identifier: Apache-2.0
#include "mapped_segment.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC UINT64_C(0x3147455354534444)
#define INDEX_MAGIC UINT64_C(0x3153464F54534444)
#define FORMAT_VERSION 1
#define PAGE_BYTES 4096

/* Positions in the header of a segment. */
#define HEADER_BYTES_AT 12
#define NONCE_AT 16
#define ROWS_AT 32
#define BYTES_AT 40
#define RECORD_BYTES_AT 48
#define SCHEMA_BYTES_AT 56
#define VERSION_AT 64
#define BOOT_AT 72
#define GONE_AT 80
#define SCHEMA_AT 128

uint64_t dds_boot_id(void) {
  char text[64] = {0};
  int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return 0;
  }
  ssize_t bytes = read(file, text, sizeof text - 1);
  close(file);
  uint64_t halves[2] = {0, 0};
  int digits = 0;
  for (ssize_t i = 0; i < bytes && digits < 32; i++) {
    char c = text[i];
    int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit >= 0) {
      halves[digits / 16] = halves[digits / 16] << 4 | (uint64_t)digit;
      digits++;
    }
  }
  return digits == 32 ? halves[0] ^ halves[1] : 0;
}

static uint64_t u64_at(const uint8_t *bytes, size_t at) {
  uint64_t value;
  memcpy(&value, bytes + at, sizeof value);
  return le64toh(value);
}

static uint32_t u32_at(const uint8_t *bytes, size_t at) {
  uint32_t value;
  memcpy(&value, bytes + at, sizeof value);
  return le32toh(value);
}

/* Returns whether a nonce in a file is the one of a handle, which has the high half first. */
static int is_nonce(const uint8_t *file, const uint8_t *nonce) {
  for (int half = 0; half < 2; half++) {
    uint64_t expected;
    memcpy(&expected, nonce + 8 * half, sizeof expected);
    if (u64_at(file, (size_t)(8 * half)) != be64toh(expected)) {
      return 0;
    }
  }
  return 1;
}

/*
 * Opens a directory that only this user can write, and that has the name of those of a process of this host.
 * Returns its descriptor, or -1 with a reason.
 */
static int open_directory(const char *path, char *why, size_t why_bytes) {
  const char *slash = strrchr(path, '/');
  char directory[PAGE_BYTES + 1];
  char prefix[80];
  if (path[0] != '/' || slash == path || (size_t)(slash - path) >= sizeof directory) {
    snprintf(why, why_bytes, "its path is not absolute, or too long");
    return -1;
  }
  memcpy(directory, path, (size_t)(slash - path));
  directory[slash - path] = '\0';
  snprintf(prefix, sizeof prefix, "ddstore-%lu-%016llx-", (unsigned long)geteuid(), (unsigned long long)dds_boot_id());
  if (strncmp(strrchr(directory, '/') + 1, prefix, strlen(prefix)) != 0) {
    snprintf(why, why_bytes, "its directory is not one of this user and host");
    return -1;
  }
  int opened = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat status;
  if (opened < 0) {
    snprintf(why, why_bytes, "its directory cannot be opened (%s): another host or container", strerror(errno));
    return -1;
  }
  if (fstat(opened, &status) < 0 || status.st_uid != geteuid() || (status.st_mode & 07777) != 0700) {
    snprintf(why, why_bytes, "other users can write its directory");
    close(opened);
    return -1;
  }
  return opened;
}

/* Maps a whole file. Returns NULL with a reason; sets the size. */
static void *map_file(int directory, const char *name, size_t *bytes, char *why, size_t why_bytes) {
  int file = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  struct stat status;
  if (file < 0) {
    snprintf(why, why_bytes, "its file cannot be opened: %s", strerror(errno));
    return NULL;
  }
  void *data = NULL;
  if (fstat(file, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size < PAGE_BYTES) {
    snprintf(why, why_bytes, "its file is no segment");
  } else {
    *bytes = (size_t)status.st_size;
    data = mmap(NULL, *bytes, PROT_READ, MAP_SHARED, file, 0);
    if (data == MAP_FAILED) {
      snprintf(why, why_bytes, "its file cannot be mapped: %s", strerror(errno));
      data = NULL;
    }
  }
  close(file);
  return data;
}

static uint8_t *put16(uint8_t *to, size_t value) {
  *to++ = (uint8_t)value;
  *to++ = (uint8_t)(value >> 8);
  return to;
}

/* Returns whether the schema of a file is the one of the handle. */
static int has_schema(const struct dds_handle *handle, const uint8_t *schema, size_t bytes) {
  size_t most = 2;
  for (int f = 0; f < handle->field_count; f++) {
    most += 2 + strlen(handle->fields[f].name) + 3 + 4 * DDS_MAX_DIMENSIONS;
  }
  uint8_t *expected = malloc(most);
  if (expected == NULL) {
    return 0;
  }
  uint8_t *to = put16(expected, (size_t)handle->field_count);
  for (int f = 0; f < handle->field_count; f++) {
    const struct dds_field_info *field = &handle->fields[f];
    size_t length = strlen(field->name);
    to = put16(to, length);
    memcpy(to, field->name, length);
    to += length;
    *to++ = (uint8_t)field->kind;
    *to++ = (uint8_t)field->dtype;
    *to++ = (uint8_t)field->dimensions;
    for (int d = 0; d < field->dimensions; d++) {
      to = put16(put16(to, (size_t)field->shape[d] & 0xffff), (size_t)field->shape[d] >> 16);
    }
  }
  int equal = (size_t)(to - expected) == bytes && memcmp(expected, schema, bytes) == 0;
  free(expected);
  return equal;
}

/* Checks the header of a segment, and sets the parts. Returns the problem, or NULL. */
static const char *check_data(const struct dds_handle *handle, const struct dds_segment_info *info,
                              struct dds_mapped_segment *segment) {
  const uint8_t *header = segment->data;
  if (u64_at(header, 0) != MAGIC || u32_at(header, 8) != FORMAT_VERSION) {
    return "its file is no segment of this version";
  }
  if (!is_nonce(header + NONCE_AT, info->nonce) || u64_at(header, BOOT_AT) != info->boot) {
    return "its file belongs to another run";
  }
  size_t begin = u32_at(header, HEADER_BYTES_AT);
  size_t schema_bytes = u32_at(header, SCHEMA_BYTES_AT);
  if (begin < PAGE_BYTES || begin > segment->data_bytes || schema_bytes > begin - SCHEMA_AT ||
      (int64_t)u64_at(header, ROWS_AT) != info->rows || (int64_t)u64_at(header, BYTES_AT) != info->bytes ||
      (uint64_t)info->bytes > segment->data_bytes - begin || u32_at(header, RECORD_BYTES_AT) != handle->record_bytes ||
      (handle->record_bytes > 0 &&
       (info->bytes % handle->record_bytes != 0 || info->bytes / handle->record_bytes != info->rows)) ||
      !has_schema(handle, header + SCHEMA_AT, schema_bytes)) {
    return "its file has other rows than the handle says";
  }
  segment->version = (const uint64_t *)(header + VERSION_AT);
  segment->gone = (const uint64_t *)(header + GONE_AT);
  segment->rows = header + begin;
  segment->bytes = info->bytes;
  return NULL;
}

static const char *check_index(const struct dds_segment_info *info, struct dds_mapped_segment *segment) {
  const uint8_t *header = segment->index;
  if (u64_at(header, 0) != INDEX_MAGIC || !is_nonce(header + 8, info->nonce) ||
      (int64_t)u64_at(header, 24) != info->rows || (segment->index_bytes - PAGE_BYTES) / 8 <= (uint64_t)info->rows) {
    return "its file of offsets belongs to another segment";
  }
  segment->offsets = (const uint64_t *)(header + PAGE_BYTES);
  if (le64toh(segment->offsets[info->rows]) != (uint64_t)info->bytes) {
    return "its offsets end elsewhere";
  }
  return NULL;
}

void dds_segment_map(const struct dds_handle *handle, const struct dds_segment_info *info,
                     struct dds_mapped_segment *segment, char *why, size_t why_bytes) {
  *segment = (struct dds_mapped_segment){0};
  if (info->path == NULL) {
    snprintf(why, why_bytes, "it has no file");
    return;
  }
  uint64_t boot = dds_boot_id();
  if (info->boot != boot) {
    snprintf(why, why_bytes, boot == 0 ? "the boot id of this host cannot be read" : "it is memory of another host");
    return;
  }
  int directory = open_directory(info->path, why, why_bytes);
  if (directory < 0) {
    return;
  }
  const char *name = strrchr(info->path, '/') + 1;
  if (strcmp(name, "lock") == 0) { /* closing it would end the lock of its owner, if that is this process */
    snprintf(why, why_bytes, "its file is the lock of its directory");
    close(directory);
    return;
  }
  segment->data = map_file(directory, name, &segment->data_bytes, why, why_bytes);
  if (segment->data != NULL && handle->record_bytes == 0) {
    char index[PAGE_BYTES + 16];
    snprintf(index, sizeof index, "%s.offsets", name);
    segment->index = map_file(directory, index, &segment->index_bytes, why, why_bytes);
  }
  close(directory);
  if (segment->data == NULL || (handle->record_bytes == 0 && segment->index == NULL)) {
    dds_segment_unmap(segment);
    return;
  }
  const char *problem = check_data(handle, info, segment);
  if (problem == NULL && segment->index != NULL) {
    problem = check_index(info, segment);
  }
  if (problem != NULL) {
    snprintf(why, why_bytes, "%s", problem);
    dds_segment_unmap(segment);
  }
}

void dds_segment_unmap(struct dds_mapped_segment *segment) {
  if (segment->data != NULL) {
    munmap(segment->data, segment->data_bytes);
  }
  if (segment->index != NULL) {
    munmap(segment->index, segment->index_bytes);
  }
  *segment = (struct dds_mapped_segment){0};
}
