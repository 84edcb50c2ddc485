// SPDX-License-Identifier: Apache-2.0
/*
 * libfabric, found at run time: what it offers, and an end of it (fabric, domain, endpoint, queue of completions,
 * addresses). Results are 0 or more, or a negative errno.
 */
#ifndef DDS_FABRIC_H
#define DDS_FABRIC_H

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The attributes are asked for as of this version; older libraries are refused. */
#define DDS_FABRIC_MAJOR 1
#define DDS_FABRIC_MINOR 10

/* The few functions of libfabric that are symbols; all others are reached through its objects. */
struct dds_fabric {
  int (*getinfo)(uint32_t, const char *, const char *, uint64_t, const struct fi_info *, struct fi_info **);
  void (*freeinfo)(struct fi_info *);
  struct fi_info *(*dupinfo)(const struct fi_info *);
  int (*fabric)(struct fi_fabric_attr *, struct fid_fabric **, void *);
  const char *(*strerror)(int);
  uint32_t version;
};

/*
 * Loads libfabric for good: it cannot be unloaded, because its providers register exit handlers. Adds to the
 * environment what keeps its libraries from harm, and leaves the handlers of signals as they are.
 *
 * why: says what is missing if the result is negative.
 */
int dds_fabric_load(const char *path, struct dds_fabric **loaded, char *why, size_t why_bytes);

/*
 * What a provider offers here that can read memory of other processes, best first, as libfabric orders it.
 * node: an address of this host that the ends are to be bound to, or NULL; result is freed by the caller with freeinfo.
 */
int dds_fabric_offers(const struct dds_fabric *fabric, const char *provider, const char *domain, const char *node,
                      struct fi_info **offers);

enum dds_fabric_role {
  DDS_FABRIC_SERVE, /* others read memory that is registered here; any thread may register */
  DDS_FABRIC_READ   /* reads; used by one thread at a time */
};

struct dds_fabric_end {
  const struct dds_fabric *library;
  struct fi_info *info;
  struct fid_fabric *fabric;
  struct fid_domain *domain;
  struct fid_av *addresses;
  struct fid_cq *completions;
  struct fid_ep *endpoint;
  enum dds_fabric_role role;
  bool can_sleep; /* the queue of completions can be waited for */
};

/*
 * Opens the first offer of provider and domain, bound to node if that is not NULL.
 *
 * call: the libfabric call that failed.
 * provider: its whole name, with what is layered on it, as an offer has it; NULL: whatever comes first.
 */
int dds_fabric_open(const struct dds_fabric *library, const char *provider, const char *domain, const char *node,
                    enum dds_fabric_role role, struct dds_fabric_end **opened, const char **call);

/* After this libfabric touches none of the memory that was given to the end. NULL is allowed. */
void dds_fabric_close(struct dds_fabric_end *end);

/* The end's own address as others insert it; returns its bytes. */
int dds_fabric_address(const struct dds_fabric_end *end, void *address, size_t capacity);

/*
 * Serves what has come and sleeps until more comes, for at most timeout_ms. A thread has to call it all the time:
 * software reads memory here, and where hardware does connections are made here, whatever a provider says of its
 * progress.
 */
int dds_fabric_progress(struct dds_fabric_end *end, int timeout_ms);

/* Wakes a thread that sleeps in dds_fabric_progress, if the provider can. */
void dds_fabric_wake(struct dds_fabric_end *end);

/* True if the caller's keys are taken; else the provider makes its own, which may be easy to guess. */
bool dds_fabric_chooses_keys(const struct dds_fabric_end *end);

/*
 * Registers memory: to be read by others where the end serves, to be read into where it reads.
 * wanted_key: counts if the caller may choose, cut to the bytes that a key has. -ENOKEY: taken, try another.
 */
int dds_fabric_register(struct dds_fabric_end *end, void *memory, size_t bytes, uint64_t wanted_key,
                        struct fid_mr **registered);

/* What others name the first byte of registered memory. */
uint64_t dds_fabric_base(const struct dds_fabric_end *end, const void *memory);

/* True if memory must be registered before it is read into. */
bool dds_fabric_registers_landing(const struct dds_fabric_end *end);

#endif
