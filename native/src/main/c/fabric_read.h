// SPDX-License-Identifier: Apache-2.0
/* Reads memory of other processes by fi_read: many pieces at a time, the queue kept filled. */
#ifndef DDS_FABRIC_READ_H
#define DDS_FABRIC_READ_H

#include <assert.h>

#include "fabric.h"

/*
 * One piece. Java writes these, in the machine's byte order:
 *
 *   0  u64  remote     where it is, as the owner's registration counts (its base, and on)
 *   8  u64  landing    the address that it is to come to
 *  16  u32  bytes      0 is legal
 *  20  u32  source     of dds_reader_add_source
 *  24  u32  region     of dds_reader_add_landing
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

/* A reading end, what it knows of others, and the reads under way. Used by one thread at a time. */
struct dds_fabric_reader;

/*
 * bytes_in_flight: asked for and not yet come, at most, of [16, 2^32); larger reads are cut into sixteenths of that, or
 * less if the provider takes less.
 */
int dds_reader_open(const struct dds_fabric *library, const char *provider, const char *domain, const char *node,
                    size_t bytes_in_flight, struct dds_fabric_reader **opened, const char **call);

/* When this returns, nothing will be written to any landing any more, whatever still comes. NULL is allowed. */
void dds_reader_close(struct dds_fabric_reader *reader);

/* The number of a process whose serving end has this address. */
int dds_reader_add_peer(struct dds_fabric_reader *reader, const void *address);

/* The number of memory that a process has registered. -EINVAL: there is no such process. */
int dds_reader_add_source(struct dds_fabric_reader *reader, int peer, uint64_t key);

/* The number of memory to read into; it stays until it is removed or the reader is closed. */
int dds_reader_add_landing(struct dds_fabric_reader *reader, void *memory, size_t bytes);

/* No reads into it may be under way. */
void dds_reader_remove_landing(struct dds_fabric_reader *reader, int region);

/*
 * Takes up new reads; the last ones have ended. The array stays the caller's and unchanged until they end.
 * -EINVAL: one of them names a source or a region that there is not, or leaves the memory of its region.
 */
int dds_reader_begin(struct dds_fabric_reader *reader, const struct dds_read *reads, uint32_t count);

/*
 * Goes on with the reads for at most timeout_ms: spins at first, then sleeps.
 * 1: all have come. 0: not yet. Negative: one has failed, and the reader is good for nothing but dds_reader_close.
 */
int dds_reader_run(struct dds_fabric_reader *reader, int timeout_ms);

/* How many bytes of the present reads have come. */
uint64_t dds_reader_bytes(const struct dds_fabric_reader *reader);

/* The source of the read that failed, or of the one that could not be started yet; -1 if there is none. */
int dds_reader_trouble(const struct dds_fabric_reader *reader);

/* What the provider says of the failure; empty if nothing. */
const char *dds_reader_text(const struct dds_fabric_reader *reader);

/* The end, for what all ends can do. */
struct dds_fabric_end *dds_reader_end(struct dds_fabric_reader *reader);

#endif
