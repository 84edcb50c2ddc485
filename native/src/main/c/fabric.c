// SPDX-License-Identifier: Apache-2.0
#include "fabric.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SIGNALS = 32, SERVED_QUEUE = 64, IDLE_POLL_NS = 1000000 };

/*
 * Settings that libraries read when they are loaded. libinfinipath, a dependency of Debian's
 * libfabric, replaces the handlers of SIGSEGV and other signals, which a JVM needs. ofi_rxm buffers
 * messages, which are never sent here: with its default of 16 KiB an endpoint takes 70 MB and a
 * connection 17 MB, with this setting 6 MB and 1 MB (libfabric 1.17).
 */
static const char *const SETTINGS[] = {"IPATH_NO_BACKTRACE=1", "FI_OFI_RXM_BUFFER_SIZE=256"};
enum { SETTINGS_COUNT = sizeof SETTINGS / sizeof *SETTINGS };

/*
 * Adds the settings that the user has not set. Other threads may read the environment meanwhile:
 * they see the old array, which is never freed, or the new one. setenv(3) would free the old one.
 */
static int add_settings(void) {
  size_t count = 0;
  while (environ != NULL && environ[count] != NULL) {
    count++;
  }
  char **larger = calloc(count + SETTINGS_COUNT + 1, sizeof *larger);
  if (larger == NULL) {
    return -ENOMEM;
  }
  size_t used = count;
  memcpy(larger, environ, count * sizeof *larger);
  for (int i = 0; i < SETTINGS_COUNT; i++) {
    size_t name_bytes = (size_t)(strchr(SETTINGS[i], '=') - SETTINGS[i]) + 1;
    bool known = false;
    for (size_t v = 0; v < count && !known; v++) {
      known = strncmp(environ[v], SETTINGS[i], name_bytes) == 0;
    }
    if (!known) {
      larger[used++] = (char *)(uintptr_t)SETTINGS[i]; /* environ has no const; never written */
    }
  }
  if (used == count) {
    free(larger);
  } else {
    environ = larger;
  }
  return 0;
}

/* Loads the library and restores the signal handlers, in case it replaces them. */
static void *open_library(const char *path) {
  struct sigaction handlers[SIGNALS];
  for (int s = 1; s < SIGNALS; s++) {
    sigaction(s, NULL, &handlers[s]);
  }
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  for (int s = 1; s < SIGNALS; s++) {
    struct sigaction now;
    if (sigaction(s, NULL, &now) == 0 && now.sa_sigaction != handlers[s].sa_sigaction) {
      sigaction(s, &handlers[s], NULL);
    }
  }
  return library;
}

/* Uses memcpy because ISO C, unlike POSIX, does not convert object to function pointers. */
static bool find(void *library, const char *name, void *function) {
  void *symbol = dlsym(library, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol != NULL;
}

int dds_fabric_load(const char *path, struct dds_fabric **loaded, char *why, size_t why_bytes) {
  *loaded = NULL;
  if (add_settings() < 0) {
    snprintf(why, why_bytes, "no memory");
    return -ENOMEM;
  }
  void *library = open_library(path);
  if (library == NULL) {
    const char *error = dlerror();
    snprintf(why, why_bytes, "%s", error == NULL ? path : error);
    return -ENOENT;
  }
  struct dds_fabric *found = calloc(1, sizeof *found);
  if (found == NULL) {
    snprintf(why, why_bytes, "no memory");
    return -ENOMEM;
  }
  uint32_t (*version)(void) = NULL;
  int result = 0;
  if (!find(library, "fi_getinfo", &found->getinfo) || !find(library, "fi_freeinfo", &found->freeinfo) ||
      !find(library, "fi_dupinfo", &found->dupinfo) || !find(library, "fi_fabric", &found->fabric) ||
      !find(library, "fi_strerror", &found->strerror) || !find(library, "fi_version", &version)) {
    snprintf(why, why_bytes, "%s is not libfabric: a symbol is missing", path);
    result = -ENOSYS;
    goto done;
  }
  found->version = version();
  if (FI_VERSION_LT(found->version, FI_VERSION(DDS_FABRIC_MAJOR, DDS_FABRIC_MINOR))) {
    snprintf(why, why_bytes, "libfabric %u.%u is older than %d.%d", FI_MAJOR(found->version), FI_MINOR(found->version),
             DDS_FABRIC_MAJOR, DDS_FABRIC_MINOR);
    result = -ENOSYS;
  }
done:
  if (result < 0) {
    free(found);
    found = NULL;
  }
  *loaded = found;
  return result;
}

static int set(char **attribute, const char *value) {
  if (value == NULL) {
    return 0;
  }
  *attribute = strdup(value); /* freeinfo frees it */
  return *attribute == NULL ? -ENOMEM : 0;
}

static int query(const struct dds_fabric *fabric, const char *provider, const char *domain, const char *node,
                 enum dds_fabric_role role, struct fi_info **offers) {
  struct fi_info *hints = fabric->dupinfo(NULL);
  if (hints == NULL) {
    return -ENOMEM;
  }
  hints->ep_attr->type = FI_EP_RDM;
  hints->caps = FI_RMA | (role == DDS_FABRIC_SERVE ? FI_REMOTE_READ : FI_READ);
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
  hints->domain_attr->threading = role == DDS_FABRIC_SERVE ? FI_THREAD_SAFE : FI_THREAD_DOMAIN;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  int result = set(&hints->fabric_attr->prov_name, provider);
  if (result == 0) {
    result = set(&hints->domain_attr->name, domain);
  }
  if (result == 0) {
    result = fabric->getinfo(FI_VERSION(DDS_FABRIC_MAJOR, DDS_FABRIC_MINOR), node, NULL, node == NULL ? 0 : FI_SOURCE,
                             hints, offers);
  }
  fabric->freeinfo(hints);
  return result;
}

int dds_fabric_offers(const struct dds_fabric *fabric, const char *provider, const char *domain, const char *node,
                      struct fi_info **offers) {
  return query(fabric, provider, domain, node, DDS_FABRIC_READ, offers);
}

/*
 * opx opens a queue with a wait object but ends the process in fi_cq_sread (its
 * fi_opx_cq_ops_table.h, 2023 to 2025).
 */
static bool may_wait(const struct fi_info *info) {
  const char *name = info->fabric_attr->prov_name;
  return strncmp(name, "opx", 3) != 0 || (name[3] != '\0' && name[3] != ';');
}

static int open_completions(struct dds_fabric_end *end) {
  struct fi_cq_attr attributes = {.format = FI_CQ_FORMAT_CONTEXT, .wait_obj = FI_WAIT_UNSPEC};
  attributes.size = end->role == DDS_FABRIC_SERVE ? SERVED_QUEUE : end->info->tx_attr->size;
  end->can_sleep = may_wait(end->info);
  if (!end->can_sleep) {
    attributes.wait_obj = FI_WAIT_NONE;
  }
  int result = fi_cq_open(end->domain, &attributes, &end->completions, NULL);
  if (end->can_sleep && (result == -FI_ENOSYS || result == -FI_EINVAL || result == -FI_EOPNOTSUPP)) {
    end->can_sleep = false;
    attributes.wait_obj = FI_WAIT_NONE;
    result = fi_cq_open(end->domain, &attributes, &end->completions, NULL);
  }
  return result;
}

static int open_end(struct dds_fabric_end *end, const char **call) {
  struct fi_av_attr addresses = {.type = FI_AV_TABLE};
  int result;
  *call = "fi_fabric";
  if ((result = end->library->fabric(end->info->fabric_attr, &end->fabric, NULL)) < 0) {
    return result;
  }
  *call = "fi_domain";
  if ((result = fi_domain(end->fabric, end->info, &end->domain, NULL)) < 0) {
    return result;
  }
  *call = "fi_av_open";
  if (end->info->domain_attr->av_type != FI_AV_UNSPEC) {
    addresses.type = end->info->domain_attr->av_type;
  }
  if ((result = fi_av_open(end->domain, &addresses, &end->addresses, NULL)) < 0) {
    return result;
  }
  *call = "fi_cq_open";
  if ((result = open_completions(end)) < 0) {
    return result;
  }
  *call = "fi_endpoint";
  if ((result = fi_endpoint(end->domain, end->info, &end->endpoint, NULL)) < 0) {
    return result;
  }
  *call = "fi_ep_bind";
  if ((result = fi_ep_bind(end->endpoint, &end->addresses->fid, 0)) < 0 ||
      (result = fi_ep_bind(end->endpoint, &end->completions->fid, FI_TRANSMIT | FI_RECV)) < 0) {
    return result;
  }
  *call = "fi_enable";
  return fi_enable(end->endpoint);
}

/* Finds the exact provider: libfabric also matches layered ones, such as tcp;ofi_rxm for tcp. */
static const struct fi_info *named(const struct fi_info *offers, const char *provider) {
  while (offers != NULL && provider != NULL && strcmp(offers->fabric_attr->prov_name, provider) != 0) {
    offers = offers->next;
  }
  return offers;
}

int dds_fabric_open(const struct dds_fabric *library, const char *provider, const char *domain, const char *node,
                    enum dds_fabric_role role, struct dds_fabric_end **opened, const char **call) {
  struct fi_info *offers = NULL;
  struct dds_fabric_end *end = calloc(1, sizeof *end);
  int result = -ENOMEM;
  *opened = NULL;
  *call = "calloc";
  if (end == NULL) {
    goto done;
  }
  end->library = library;
  end->role = role;
  *call = "fi_getinfo";
  result = query(library, provider, domain, node, role, &offers);
  if (result < 0) {
    goto done;
  }
  const struct fi_info *offer = named(offers, provider);
  if (offer == NULL) {
    result = -FI_ENODATA;
    goto done;
  }
  end->info = library->dupinfo(offer);
  result = end->info == NULL ? -ENOMEM : open_end(end, call);
done:
  if (offers != NULL) {
    library->freeinfo(offers);
  }
  if (result < 0) {
    dds_fabric_close(end);
  } else {
    *opened = end;
  }
  return result;
}

static void close_object(struct fid *object) {
  if (object != NULL) {
    fi_close(object);
  }
}

void dds_fabric_close(struct dds_fabric_end *end) {
  if (end == NULL) {
    return;
  }
  close_object(end->endpoint == NULL ? NULL : &end->endpoint->fid);
  close_object(end->completions == NULL ? NULL : &end->completions->fid);
  close_object(end->addresses == NULL ? NULL : &end->addresses->fid);
  close_object(end->domain == NULL ? NULL : &end->domain->fid);
  close_object(end->fabric == NULL ? NULL : &end->fabric->fid);
  if (end->info != NULL) {
    end->library->freeinfo(end->info);
  }
  free(end);
}

int dds_fabric_address(const struct dds_fabric_end *end, void *address, size_t capacity) {
  size_t bytes = capacity;
  int result = fi_getname(&end->endpoint->fid, address, &bytes);
  return result < 0 ? result : (int)bytes;
}

int dds_fabric_progress(struct dds_fabric_end *end, int timeout_ms) {
  struct fi_cq_entry entry;
  ssize_t count;
  if (end->can_sleep) {
    count = fi_cq_sread(end->completions, &entry, 1, NULL, timeout_ms);
  } else {
    struct timespec pause = {.tv_nsec = IDLE_POLL_NS};
    count = fi_cq_read(end->completions, &entry, 1);
    if (count == -FI_EAGAIN) {
      nanosleep(&pause, NULL);
    }
  }
  if (count == -FI_EAVAIL) { /* a broken connection, which the reader also reports */
    struct fi_cq_err_entry error = {0};
    fi_cq_readerr(end->completions, &error, 0);
    return 0;
  }
  return count >= 0 || count == -FI_EAGAIN || count == -FI_EINTR || count == -FI_ECANCELED ? 0 : (int)count;
}

void dds_fabric_wake(struct dds_fabric_end *end) {
  if (end->can_sleep) { /* some providers dereference a missing wait object */
    fi_cq_signal(end->completions);
  }
}

bool dds_fabric_chooses_keys(const struct dds_fabric_end *end) {
  return (end->info->domain_attr->mr_mode & FI_MR_PROV_KEY) == 0;
}

int dds_fabric_register(struct dds_fabric_end *end, void *memory, size_t bytes, uint64_t wanted_key,
                        struct fid_mr **registered) {
  struct fid_mr *region = NULL;
  size_t key_bytes = end->info->domain_attr->mr_key_size;
  uint64_t key = key_bytes >= sizeof key ? wanted_key : wanted_key & ((1ULL << (8 * key_bytes)) - 1);
  uint64_t access = end->role == DDS_FABRIC_SERVE ? FI_REMOTE_READ : FI_READ;
  int result = fi_mr_reg(end->domain, memory, bytes, access, 0, key, 0, &region, NULL);
  if (result == 0 && (end->info->domain_attr->mr_mode & FI_MR_ENDPOINT) != 0) {
    result = fi_mr_bind(region, &end->endpoint->fid, 0);
    if (result == 0) {
      result = fi_mr_enable(region);
    }
    if (result < 0) {
      fi_close(&region->fid);
    }
  }
  *registered = result < 0 ? NULL : region;
  return result;
}

uint64_t dds_fabric_base(const struct dds_fabric_end *end, const void *memory) {
  return (end->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0 ? (uint64_t)(uintptr_t)memory : 0;
}

bool dds_fabric_registers_landing(const struct dds_fabric_end *end) {
  return (end->info->domain_attr->mr_mode & FI_MR_LOCAL) != 0;
}
