// SPDX-License-Identifier: Apache-2.0
/* Reads of other processes' memory by fi_read, many in flight at a time. */
#ifndef DDS_FABRIC_READ_H
#define DDS_FABRIC_READ_H

#include <assert.h>

#include "fabric.h"

/*
 * One piece. Java writes these, in the machine's byte order:
 *
 *   0  u64  remote     address of the piece, counted from the base of the owner's registration
 *   8  u64  landing    address that the piece is read into
 *  16  u32  bytes      0 is legal
 *  20  u32  source     number from dds_reader_add_source
 *  24  u32  region     number from dds_reader_add_landing
 *  28  u32  0
 */
struct dds_read {
  uint64_t remote;
  uint64_t landing;
  uint32_t bytes;
  uint32_t source;
  uint32_t region;
  uint32_t zero;
};
static_assert(sizeof(struct dds_read) == 32 && offsetof(struct dds_read, region) == 24, "as ReadList.java writes it");

/* A reading end, its peers and its reads in flight. Used by one thread at a time. */
struct dds_fabric_reader;

/*
 * Opens a reader.
 *
 * bytes_in_flight: maximum number of requested bytes that have not arrived, in [16, 2^32); larger
 * reads are split into sixteenths of it, or less if the provider's messages are smaller.
 */
int dds_reader_open(const struct dds_fabric *library, const char *provider, const char *domain, const char *node,
                    size_t bytes_in_flight, struct dds_fabric_reader **opened, const char **call);

/* Closes the reader. After the return no late answer writes to any landing. NULL is allowed. */
void dds_reader_close(struct dds_fabric_reader *reader);

/* Returns the number of the process whose serving end has this address. */
int dds_reader_add_peer(struct dds_fabric_reader *reader, const void *address);

/* Returns the number of memory that a process has registered; -EINVAL: unknown process. */
int dds_reader_add_source(struct dds_fabric_reader *reader, int peer, uint64_t key);

/* Returns the number of memory to read into, valid until it is removed or the reader is closed. */
int dds_reader_add_landing(struct dds_fabric_reader *reader, void *memory, size_t bytes);

/* Removes memory to read into; no read into it may be in flight. */
void dds_reader_remove_landing(struct dds_fabric_reader *reader, int region);

/*
 * Starts new reads; the previous ones must have ended. The caller owns the array and must not
 * change it until the reads end. -EINVAL: a read names an unknown source or region, or leaves the
 * memory of its region.
 */
int dds_reader_begin(struct dds_fabric_reader *reader, const struct dds_read *reads, uint32_t count);

/*
 * Continues the reads for at most timeout_ms: spins at first, then sleeps.
 * Returns 1 if all are complete, 0 if not yet, and a negative errno if one has failed; after a
 * failure only dds_reader_close may be called.
 */
int dds_reader_run(struct dds_fabric_reader *reader, int timeout_ms);

/* Returns the number of bytes of the current reads that have arrived. */
uint64_t dds_reader_bytes(const struct dds_fabric_reader *reader);

/* Returns the source of the read that failed or could not be started yet; -1 if none. */
int dds_reader_trouble(const struct dds_fabric_reader *reader);

/* Returns the provider's text of the failure; may be empty. */
const char *dds_reader_text(const struct dds_fabric_reader *reader);

/* Returns the reader's end, for the functions of fabric.h. */
struct dds_fabric_end *dds_reader_end(struct dds_fabric_reader *reader);

#endif
