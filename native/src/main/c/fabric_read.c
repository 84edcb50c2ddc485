// SPDX-License-Identifier: Apache-2.0
#include "fabric_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>

enum {
  MOST_OUTSTANDING = 1024, /* messages; a larger window was not faster over tcp */
  MOST_PIECES = 16,        /* of one message, if the provider supports as many */
  MESSAGES_IN_FLIGHT = 16, /* of the largest size */
  REAPED_AT_ONCE = 64,
  TEXT_BYTES = 256
};

static const uint64_t SPIN_NS = 20000;
static const uint64_t NS_PER_MS = 1000000;
static const long PAUSE_NS = 100000; /* while a connection is made */

struct source {
  fi_addr_t peer;
  uint64_t key;
};

struct landing {
  struct fid_mr *region; /* NULL if the provider needs none */
  uint64_t base;
  size_t bytes;
  bool used;
};

/* A message in flight. The provider owns the context until the message completes. */
struct message {
  struct fi_context2 context;
  struct message *next_free;
  uint64_t bytes;
  uint32_t source;
};

struct dds_fabric_reader {
  struct dds_fabric_end *end;
  fi_addr_t *peers; /* the provider's numbers or addresses of the peers */
  int peer_count, peer_capacity;
  struct source *sources;
  int source_count, source_capacity;
  struct landing *landings;
  int landing_count, landing_capacity;
  struct message *messages;
  struct message *free_messages;
  uint32_t window, outstanding;
  uint64_t bytes_in_flight, most_in_flight, message_bytes;
  size_t most_pieces;
  const struct dds_read *reads;
  uint32_t count, next; /* reads before next are posted */
  uint64_t next_done;   /* posted bytes of read next */
  uint64_t bytes_come;
  bool full;    /* the window was full; posting waits until half of it is free */
  bool refused; /* the provider did not accept the last message yet */
  int error, trouble;
  char text[TEXT_BYTES];
};

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t least(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

int dds_reader_open(const struct dds_fabric *library, const char *provider, const char *domain, const char *node,
                    size_t bytes_in_flight, struct dds_fabric_reader **opened, const char **call) {
  int result = -ENOMEM;
  struct dds_fabric_reader *reader = calloc(1, sizeof *reader);
  *opened = NULL;
  *call = "calloc";
  if (reader == NULL) {
    goto done;
  }
  result = dds_fabric_open(library, provider, domain, node, DDS_FABRIC_READ, &reader->end, call);
  if (result < 0) {
    goto done;
  }
  const struct fi_info *info = reader->end->info;
  reader->window = (uint32_t)least(MOST_OUTSTANDING, info->tx_attr->size);
  reader->most_in_flight = bytes_in_flight;
  reader->message_bytes = least(info->ep_attr->max_msg_size, bytes_in_flight / MESSAGES_IN_FLIGHT);
  reader->most_pieces = info->tx_attr->rma_iov_limit < 1 ? 1 : least(info->tx_attr->rma_iov_limit, MOST_PIECES);
  reader->trouble = -1;
  reader->messages = calloc(reader->window, sizeof *reader->messages);
  if (reader->messages == NULL) {
    result = -ENOMEM;
    *call = "calloc";
    goto done;
  }
  for (uint32_t i = 0; i < reader->window; i++) {
    reader->messages[i].next_free = reader->free_messages;
    reader->free_messages = &reader->messages[i];
  }
done:
  if (result < 0) {
    dds_reader_close(reader);
    reader = NULL;
  }
  *opened = reader;
  return result;
}

static void close_landings(struct dds_fabric_reader *reader) {
  for (int i = 0; i < reader->landing_count; i++) {
    if (reader->landings[i].region != NULL) {
      fi_close(&reader->landings[i].region->fid);
    }
  }
  reader->landing_count = 0;
}

/* Closes the endpoint first, to stop all landings, but memory bound to it even before it. */
void dds_reader_close(struct dds_fabric_reader *reader) {
  if (reader == NULL) {
    return;
  }
  if (reader->end != NULL) {
    if ((reader->end->info->domain_attr->mr_mode & FI_MR_ENDPOINT) != 0) {
      close_landings(reader);
    }
    fi_close(&reader->end->endpoint->fid);
    reader->end->endpoint = NULL;
    close_landings(reader);
    dds_fabric_close(reader->end);
  }
  free(reader->messages);
  free(reader->peers);
  free(reader->sources);
  free(reader->landings);
  free(reader);
}

/* Ensures capacity for one more element. Returns false if there is no memory. */
static bool room(void **array, size_t element_bytes, int count, int *capacity) {
  if (count < *capacity) {
    return true;
  }
  void *larger = realloc(*array, (size_t)(2 * *capacity + 16) * element_bytes);
  if (larger != NULL) {
    *array = larger;
    *capacity = 2 * *capacity + 16;
  }
  return larger != NULL;
}

int dds_reader_add_peer(struct dds_fabric_reader *reader, const void *address) {
  fi_addr_t peer = FI_ADDR_UNSPEC;
  if (!room((void **)&reader->peers, sizeof *reader->peers, reader->peer_count, &reader->peer_capacity)) {
    return -ENOMEM;
  }
  int count = fi_av_insert(reader->end->addresses, address, 1, &peer, 0, NULL);
  if (count != 1) {
    return count < 0 ? count : -EINVAL;
  }
  reader->peers[reader->peer_count] = peer;
  return reader->peer_count++;
}

int dds_reader_add_source(struct dds_fabric_reader *reader, int peer, uint64_t key) {
  if (peer < 0 || peer >= reader->peer_count) {
    return -EINVAL;
  }
  if (!room((void **)&reader->sources, sizeof *reader->sources, reader->source_count, &reader->source_capacity)) {
    return -ENOMEM;
  }
  reader->sources[reader->source_count] = (struct source){.peer = reader->peers[peer], .key = key};
  return reader->source_count++;
}

static int free_landing(struct dds_fabric_reader *reader) {
  for (int i = 0; i < reader->landing_count; i++) {
    if (!reader->landings[i].used) {
      return i;
    }
  }
  if (!room((void **)&reader->landings, sizeof *reader->landings, reader->landing_count, &reader->landing_capacity)) {
    return -ENOMEM;
  }
  reader->landings[reader->landing_count] = (struct landing){.used = false};
  return reader->landing_count++;
}

int dds_reader_add_landing(struct dds_fabric_reader *reader, void *memory, size_t bytes) {
  int region = free_landing(reader);
  if (region < 0) {
    return region;
  }
  struct landing landing = {.base = (uint64_t)(uintptr_t)memory, .bytes = bytes, .used = true};
  if (dds_fabric_registers_landing(reader->end)) {
    uint64_t key = (uint64_t)region + 1; /* unused: no peer reads this memory */
    int result = dds_fabric_register(reader->end, memory, bytes, key, &landing.region);
    if (result < 0) {
      return result;
    }
  }
  reader->landings[region] = landing;
  return region;
}

void dds_reader_remove_landing(struct dds_fabric_reader *reader, int region) {
  if (reader->landings[region].region != NULL) {
    fi_close(&reader->landings[region].region->fid);
  }
  reader->landings[region] = (struct landing){.used = false};
}

/* Returns true if the whole read lies in the memory of its region. */
static bool lands(const struct dds_fabric_reader *reader, const struct dds_read *read) {
  if (read->region >= (uint32_t)reader->landing_count || !reader->landings[read->region].used) {
    return false;
  }
  const struct landing *landing = &reader->landings[read->region];
  return read->landing >= landing->base && read->landing - landing->base <= landing->bytes &&
         read->bytes <= landing->bytes - (read->landing - landing->base);
}

int dds_reader_begin(struct dds_fabric_reader *reader, const struct dds_read *reads, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (reads[i].source >= (uint32_t)reader->source_count || !lands(reader, &reads[i])) {
      return -EINVAL;
    }
  }
  reader->reads = reads;
  reader->count = count;
  reader->next = 0;
  reader->next_done = 0;
  reader->bytes_come = 0;
  reader->full = false;
  return 0;
}

/*
 * Fills one message with pieces of one process that land in one contiguous range of memory. Returns
 * their number.
 */
static size_t gather(const struct dds_fabric_reader *reader, struct fi_rma_iov *pieces, uint64_t most_bytes,
                     uint32_t *next, uint64_t *next_done, struct iovec *landing) {
  const struct dds_read *first = &reader->reads[*next];
  fi_addr_t peer = reader->sources[first->source].peer;
  uint64_t end = first->landing + *next_done;
  uint64_t bytes = 0;
  size_t count = 0;
  landing->iov_base = (void *)(uintptr_t)end;
  while (*next < reader->count && count < reader->most_pieces && bytes < most_bytes) {
    const struct dds_read *read = &reader->reads[*next];
    const struct source *source = &reader->sources[read->source];
    if (source->peer != peer || read->region != first->region || read->landing + *next_done != end) {
      break;
    }
    uint64_t now = least(read->bytes - *next_done, most_bytes - bytes);
    if (now > 0) {
      pieces[count++] = (struct fi_rma_iov){.addr = read->remote + *next_done, .len = now, .key = source->key};
    }
    bytes += now;
    end += now;
    *next_done += now;
    if (*next_done == read->bytes) {
      (*next)++;
      *next_done = 0;
    }
  }
  landing->iov_len = bytes;
  return count;
}

/* Posts one message. Returns 1 if posted or none is left, 0 to retry, negative if failed. */
static int post(struct dds_fabric_reader *reader) {
  struct fi_rma_iov pieces[MOST_PIECES];
  struct iovec landing;
  const struct dds_read *first = &reader->reads[reader->next];
  struct fid_mr *region = reader->landings[first->region].region;
  void *description = region == NULL ? NULL : fi_mr_desc(region);
  uint32_t next = reader->next;
  uint64_t next_done = reader->next_done;
  size_t count = gather(reader, pieces, reader->message_bytes, &next, &next_done, &landing);
  if (count > 0) {
    struct message *message = reader->free_messages;
    struct fi_msg_rma request = {.msg_iov = &landing,
                                 .desc = &description,
                                 .iov_count = 1,
                                 .addr = reader->sources[first->source].peer,
                                 .rma_iov = pieces,
                                 .rma_iov_count = count,
                                 .context = &message->context};
    ssize_t result = fi_readmsg(reader->end->endpoint, &request, FI_COMPLETION);
    reader->trouble = (int)first->source;
    if (result == -FI_EAGAIN) {
      reader->refused = true;
      return 0;
    }
    if (result < 0) {
      return (int)result;
    }
    reader->free_messages = message->next_free;
    message->bytes = landing.iov_len;
    message->source = first->source;
    reader->outstanding++;
    reader->bytes_in_flight += landing.iov_len;
  }
  reader->next = next;
  reader->next_done = next_done;
  return 1;
}

/* Posts messages up to the window. Returns 1 if any was posted, 0 if none, negative if failed. */
static int fill(struct dds_fabric_reader *reader) {
  int posted = 0;
  reader->refused = false;
  if (reader->full && reader->outstanding > reader->window / 2) {
    return 0;
  }
  reader->full = false;
  while (reader->next < reader->count) {
    if (reader->outstanding == reader->window) {
      reader->full = true;
      break;
    }
    if (reader->bytes_in_flight > reader->most_in_flight - reader->message_bytes) {
      break;
    }
    int result = post(reader);
    if (result <= 0) {
      return result < 0 ? result : posted;
    }
    posted = 1;
  }
  return posted;
}

/* Takes an error from the completion queue. Returns 0 if no read has failed, or negative. */
static int fail(struct dds_fabric_reader *reader) {
  struct fi_cq_err_entry error = {0};
  ssize_t result = fi_cq_readerr(reader->end->completions, &error, 0);
  if (result <= 0) {
    return result == -FI_EAGAIN ? 0 : (int)result;
  }
  const char *text = fi_cq_strerror(reader->end->completions, error.prov_errno, error.err_data, NULL, 0);
  snprintf(reader->text, sizeof reader->text, "%s", text == NULL ? "" : text);
  /*
   * libfabric 1.17 reports two errors of a read whose answer has arrived in part, one of them
   * without a context.
   */
  if (error.op_context != NULL) {
    reader->trouble = (int)((struct message *)error.op_context)->source;
  }
  return error.err > 0 ? -error.err : -FI_EIO;
}

/* Takes completions. Returns 1 if there were any, 0 if none, negative if a read failed. */
static int take(struct dds_fabric_reader *reader, struct fi_cq_entry *entries, ssize_t count) {
  if (count == -FI_EAVAIL) {
    return fail(reader);
  }
  if (count < 0) {
    return count == -FI_EAGAIN || count == -FI_EINTR ? 0 : (int)count;
  }
  for (ssize_t i = 0; i < count; i++) {
    struct message *message = entries[i].op_context;
    message->next_free = reader->free_messages;
    reader->free_messages = message;
    reader->outstanding--;
    reader->bytes_in_flight -= message->bytes;
    reader->bytes_come += message->bytes;
  }
  return count > 0;
}

/*
 * Takes all completions and a failure that follows them, because nothing may be posted after a
 * failure. When a connection breaks while an answer has arrived in part, libfabric's software for
 * TCP (1.17) frees one record twice, and the next two messages receive the same record.
 *
 * Returns 1 if there were completions, 0 if none, negative if a read failed.
 */
static int reap(struct dds_fabric_reader *reader) {
  struct fi_cq_entry entries[REAPED_AT_ONCE];
  ssize_t count;
  int any = 0;
  do {
    count = fi_cq_read(reader->end->completions, entries, REAPED_AT_ONCE);
    int taken = take(reader, entries, count);
    if (taken < 0) {
      return taken;
    }
    any |= taken;
  } while (count == REAPED_AT_ONCE);
  int failed = any ? fail(reader) : 0; /* checks the queued errors without making progress */
  return failed < 0 ? failed : any;
}

/*
 * Waits for a completion or a connection, for about most_ns. Returns 0, or a negative errno if a
 * read failed.
 */
static int doze(struct dds_fabric_reader *reader, uint64_t most_ns) {
  struct fi_cq_entry entries[REAPED_AT_ONCE];
  if (reader->outstanding > 0 && !reader->refused && reader->end->can_sleep && most_ns >= NS_PER_MS) {
    int timeout_ms = (int)(most_ns / NS_PER_MS);
    int taken = take(reader, entries, fi_cq_sread(reader->end->completions, entries, REAPED_AT_ONCE, NULL, timeout_ms));
    if (taken == 1) {
      taken = reap(reader);
    }
    return taken < 0 ? taken : 0;
  }
  struct timespec pause = {.tv_nsec = PAUSE_NS};
  nanosleep(&pause, NULL);
  return 0;
}

int dds_reader_run(struct dds_fabric_reader *reader, int timeout_ms) {
  uint64_t deadline = now_ns() + (uint64_t)timeout_ms * NS_PER_MS;
  uint64_t idle_since = 0;
  while (reader->error == 0) {
    int posted = fill(reader);
    int taken = posted < 0 ? posted : reap(reader);
    if (taken < 0) {
      reader->error = taken;
      break;
    }
    if (reader->next == reader->count && reader->outstanding == 0) {
      return 1;
    }
    uint64_t now = now_ns();
    if (now >= deadline) {
      return 0;
    }
    if (posted + taken > 0) {
      idle_since = 0;
    } else if (idle_since == 0) {
      idle_since = now;
    } else if (now - idle_since >= SPIN_NS) {
      reader->error = doze(reader, deadline - now);
    }
  }
  return reader->error;
}

uint64_t dds_reader_bytes(const struct dds_fabric_reader *reader) {
  return reader->bytes_come;
}

int dds_reader_trouble(const struct dds_fabric_reader *reader) {
  return reader->trouble;
}

const char *dds_reader_text(const struct dds_fabric_reader *reader) {
  return reader->text;
}

struct dds_fabric_end *dds_reader_end(struct dds_fabric_reader *reader) {
  return reader->end;
}
