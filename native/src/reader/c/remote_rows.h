// SPDX-License-Identifier: Apache-2.0
/* The receipt of rows of other processes over their data ports. */
#ifndef DDS_REMOTE_ROWS_H
#define DDS_REMOTE_ROWS_H

#include "handle.h"

/*
 * A row to receive.
 *
 * segment  number of its segment in the copies; row: in the segment
 * at       position in the batch
 */
struct dds_remote_row {
  size_t segment;
  int64_t row;
  size_t at;
};

struct dds_remote;

/* Returns a receiver without connections, or NULL if there is no memory. The handle stays valid. */
struct dds_remote *dds_remote_open(const struct dds_handle *handle);

/* Closes a receiver and its connections. NULL: no effect. */
void dds_remote_close(struct dds_remote *remote);

/* Forgets the connections of the process that has forked this one. */
void dds_remote_forked(struct dds_remote *remote);

/*
 * Receives rows, and sets the addresses and, of ragged records, the sizes of their records at their positions in
 * the batch. They stay valid until the next call. Sorts the rows. Blocks until end_ns, by CLOCK_MONOTONIC, and
 * goes on with another copy if a process is lost.
 */
int dds_remote_fetch(struct dds_remote *remote, struct dds_remote_row *rows, size_t count, int64_t *addresses,
                     int32_t *sizes, int64_t end_ns, struct dds_error *error);

#endif
