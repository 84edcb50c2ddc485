// SPDX-License-Identifier: Apache-2.0
/*
 * libfabric, loaded at run time: its offers, and an end (fabric, domain, endpoint, completion
 * queue, address vector). Results are 0 or more, or a negative errno.
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

/* Version of the requested attributes; older libraries are refused. */
#define DDS_FABRIC_MAJOR 1
#define DDS_FABRIC_MINOR 10

/* Functions that libfabric exports as symbols; all others are called through its objects. */
struct dds_fabric {
  int (*getinfo)(uint32_t, const char *, const char *, uint64_t, const struct fi_info *, struct fi_info **);
  void (*freeinfo)(struct fi_info *);
  struct fi_info *(*dupinfo)(const struct fi_info *);
  int (*fabric)(struct fi_fabric_attr *, struct fid_fabric **, void *);
  const char *(*strerror)(int);
  uint32_t version;
};

/*
 * Loads libfabric permanently: it cannot be unloaded, because its providers register exit handlers.
 * Adds settings to the environment that avoid side effects of its libraries, and preserves the
 * signal handlers.
 *
 * why receives a text of the failure if the result is negative.
 */
int dds_fabric_load(const char *path, struct dds_fabric **loaded, char *why, size_t why_bytes);

/*
 * Lists the provider's offers on this host that can read memory of other processes, best first, in
 * libfabric's order.
 *
 * node: address of this host that the ends bind to, or NULL.
 * offers: freed by the caller with freeinfo.
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
  bool can_sleep; /* the completion queue supports blocking waits */
};

/*
 * Opens the first offer of provider and domain, bound to node unless node is NULL.
 *
 * call: receives the libfabric call that failed.
 * provider: full name, layered providers included, as in an offer; NULL selects the first offer.
 */
int dds_fabric_open(const struct dds_fabric *library, const char *provider, const char *domain, const char *node,
                    enum dds_fabric_role role, struct dds_fabric_end **opened, const char **call);

/* Closes the end. libfabric then no longer accesses the end's memory. NULL is allowed. */
void dds_fabric_close(struct dds_fabric_end *end);

/* Gets the end's own address, as peers insert it. Returns its bytes. */
int dds_fabric_address(const struct dds_fabric_end *end, void *address, size_t capacity);

/*
 * Serves pending requests and sleeps until the next one, for at most timeout_ms. A thread must call
 * it continuously, whatever progress mode a provider reports: software providers read memory here,
 * and hardware providers accept connections here.
 */
int dds_fabric_progress(struct dds_fabric_end *end, int timeout_ms);

/* Wakes a thread that sleeps in dds_fabric_progress, if the provider supports it. */
void dds_fabric_wake(struct dds_fabric_end *end);

/* Returns true if the caller chooses keys; a provider's own keys may be easy to guess. */
bool dds_fabric_chooses_keys(const struct dds_fabric_end *end);

/*
 * Registers memory: a serving end's memory is read by peers, a reading end's memory is read into.
 *
 * wanted_key: used if the caller chooses keys, truncated to the size of a key. -ENOKEY: the key is
 * in use, try another.
 */
int dds_fabric_register(struct dds_fabric_end *end, void *memory, size_t bytes, uint64_t wanted_key,
                        struct fid_mr **registered);

/* Returns the address by which peers name the first byte of registered memory. */
uint64_t dds_fabric_base(const struct dds_fabric_end *end, const void *memory);

/* Returns true if memory must be registered before it is read into. */
bool dds_fabric_registers_landing(const struct dds_fabric_end *end);

#endif
