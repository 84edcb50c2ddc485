// SPDX-License-Identifier: Apache-2.0
/* The content of a handle, docs/handle.md. */
#ifndef DDS_HANDLE_H
#define DDS_HANDLE_H

#include "ddstore_reader.h"

/* The largest legal handle, in bytes. */
#define DDS_MOST_HANDLE ((size_t)64 << 20)

#define DDS_ID_BYTES 16
#define DDS_KEY_BYTES 32

/* version, store, end, and a label of at most 64 bytes */
#define DDS_MOST_CLAIMS (1 + DDS_ID_BYTES + 8 + 64)

struct dds_process {
  char *host;
  int port;
  uint64_t id;
};

/*
 * path     file of the segment, or NULL
 * process  number of the process that serves it, or -1
 */
struct dds_segment_info {
  int64_t first_row;
  int64_t rows;
  int64_t bytes;
  uint8_t nonce[DDS_ID_BYTES];
  uint64_t boot;
  char *path;
  int process;
};

/* A full copy of the rows: segment_count segments, one after the other. */
struct dds_copy {
  struct dds_segment_info *segments;
};

struct dds_handle {
  char *name;
  char *digest;  /* of the rows; "" if it is not known */
  int64_t state; /* larger after each change of the rows or their places */
  int64_t rows;
  int64_t record_bytes; /* 0: records differ in size */
  struct dds_field_info *fields;
  int field_count;
  struct dds_process *processes;
  size_t process_count;
  struct dds_copy *copies;
  size_t copy_count;
  size_t segment_count;
  char *no_port; /* why there are no ports; NULL if there are */
  char *label;
  uint8_t store[DDS_ID_BYTES];
  uint8_t claims[DDS_MOST_CLAIMS];
  size_t claims_bytes;
  uint8_t key[DDS_KEY_BYTES];
};

/* Reads a handle, which is to be freed by dds_handle_free. The text may be hostile. */
int dds_handle_parse(const char *json, size_t bytes, struct dds_handle **handle, struct dds_error *error);

/* Frees a handle, and overwrites its key. NULL: no effect. */
void dds_handle_free(struct dds_handle *handle);

/* Sets an error with a text as printf does; returns its code. error may be NULL. */
__attribute__((format(printf, 3, 4))) int dds_fail(struct dds_error *error, int code, const char *format, ...);

#endif
