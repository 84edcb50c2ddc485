// SPDX-License-Identifier: Apache-2.0
/*
 * Cost of a read with plain libfabric: a process posts fi_read for random rows of another one, WINDOW at a
 * time, waits for all, and then compares every byte with the written one. The time covers posting and waiting.
 * Prints per row size: row bytes, microseconds per row, number of wrong bytes.
 *
 * Usage: fabric_read SHARD_BYTES SECONDS PROVIDER ROW_BYTES...
 */
#define _DEFAULT_SOURCE
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WINDOW = 64, WINDOW_BYTES = 16 << 20, NAME_BYTES = 256, DEADLINE_S = 60 };

struct node {
  struct fi_info *info;
  struct fid_fabric *fabric;
  struct fid_domain *domain;
  struct fid_av *av;
  struct fid_cq *cq;
  struct fid_ep *ep;
  struct fid_mr *mr;
  unsigned char *memory;
};

/* What the reader has to know of the owner. */
struct owner {
  char name[NAME_BYTES];
  uint64_t key;
  uint64_t base;
};

static void check(int is_right, const char *what) {
  if (!is_right) {
    fprintf(stderr, "fabric_read: %s\n", what);
    exit(1);
  }
}

static uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static unsigned char pattern(size_t byte) {
  return (unsigned char)(byte * 31 + (byte >> 8));
}

static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void open_node(struct node *node, const char *provider, size_t bytes) {
  struct fi_info *hints = fi_allocinfo();
  struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_CONTEXT, .wait_obj = FI_WAIT_UNSPEC};
  struct fi_av_attr av = {.type = FI_AV_MAP};
  check(hints != NULL, "no memory for hints");
  hints->caps = FI_MSG | FI_RMA | FI_READ | FI_REMOTE_READ;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
  hints->fabric_attr->prov_name = strdup(provider);
  check(fi_getinfo(FI_VERSION(1, 14), "127.0.0.1", NULL, FI_SOURCE, hints, &node->info) == 0, "no such provider");
  fi_freeinfo(hints);
  node->memory = malloc(bytes);
  check(node->memory != NULL, "no memory");
  check(fi_fabric(node->info->fabric_attr, &node->fabric, NULL) == 0, "fi_fabric failed");
  check(fi_domain(node->fabric, node->info, &node->domain, NULL) == 0, "fi_domain failed");
  check(fi_av_open(node->domain, &av, &node->av, NULL) == 0, "fi_av_open failed");
  check(fi_cq_open(node->domain, &cq, &node->cq, NULL) == 0, "fi_cq_open failed");
  check(fi_endpoint(node->domain, node->info, &node->ep, NULL) == 0, "fi_endpoint failed");
  check(fi_ep_bind(node->ep, &node->av->fid, 0) == 0, "fi_ep_bind failed");
  check(fi_ep_bind(node->ep, &node->cq->fid, FI_TRANSMIT | FI_RECV) == 0, "fi_ep_bind failed");
  check(fi_enable(node->ep) == 0, "fi_enable failed");
  check(fi_mr_reg(node->domain, node->memory, bytes, FI_READ | FI_REMOTE_READ, 0, 1, 0, &node->mr, NULL) == 0,
        "fi_mr_reg failed");
}

static void close_node(struct node *node) {
  fi_close(&node->mr->fid);
  fi_close(&node->ep->fid);
  fi_close(&node->cq->fid);
  fi_close(&node->av->fid);
  fi_close(&node->domain->fid);
  fi_close(&node->fabric->fid);
  fi_freeinfo(node->info);
  free(node->memory);
}

/* Serves rows until it is killed: the provider makes progress while a thread waits. */
static void serve(const char *provider, size_t bytes, int out) {
  struct node node = {0};
  struct owner owner = {{0}, 0, 0};
  size_t size = sizeof owner.name;
  struct fi_cq_entry entry;
  open_node(&node, provider, bytes);
  for (size_t byte = 0; byte < bytes; byte++) {
    node.memory[byte] = pattern(byte);
  }
  check(fi_getname(&node.ep->fid, owner.name, &size) == 0, "fi_getname failed");
  owner.key = fi_mr_key(node.mr);
  owner.base = node.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uint64_t)(uintptr_t)node.memory : 0;
  check(write(out, &owner, sizeof owner) == (ssize_t)sizeof owner, "the pipe is closed");
  for (;;) {
    (void)fi_cq_sread(node.cq, &entry, 1, NULL, 100);
  }
}

static void reap(struct node *node, int *outstanding) {
  struct fi_cq_entry entries[WINDOW];
  ssize_t count = fi_cq_read(node->cq, entries, WINDOW);
  check(count >= 0 || count == -FI_EAGAIN, "a read failed");
  *outstanding -= count > 0 ? (int)count : 0;
}

static void measure(struct node *node, fi_addr_t to, const struct owner *owner, size_t shard, size_t row_bytes,
                    double seconds) {
  size_t window = WINDOW_BYTES / row_bytes < 1        ? 1
                  : WINDOW_BYTES / row_bytes < WINDOW ? WINDOW_BYTES / row_bytes
                                                      : WINDOW;
  uint64_t random = 0x9E3779B97F4A7C15u;
  size_t offsets[WINDOW];
  struct fi_context2 contexts[WINDOW];
  double spent = 0;
  long rows = 0;
  long wrong = 0;
  while (spent < seconds) {
    for (size_t r = 0; r < window; r++) {
      offsets[r] = next_random(&random) % (shard / row_bytes) * row_bytes;
    }
    double start = now_s();
    int outstanding = 0;
    for (size_t r = 0; r < window;) {
      ssize_t code = fi_read(node->ep, node->memory + r * row_bytes, row_bytes, fi_mr_desc(node->mr), to,
                             owner->base + offsets[r], owner->key, &contexts[r]);
      check(code == 0 || code == -FI_EAGAIN, "fi_read failed");
      if (code == 0) {
        outstanding++;
        r++;
      } else {
        reap(node, &outstanding);
      }
      check(now_s() - start < DEADLINE_S, "reads take more than a minute");
    }
    while (outstanding > 0) {
      reap(node, &outstanding);
      check(now_s() - start < DEADLINE_S, "reads take more than a minute");
    }
    spent += now_s() - start;
    rows += (long)window;
    for (size_t r = 0; r < window; r++) {
      for (size_t byte = 0; byte < row_bytes; byte++) {
        wrong += node->memory[r * row_bytes + byte] != pattern(offsets[r] + byte);
      }
    }
  }
  printf("%zu %.4f %ld\n", row_bytes, spent * 1e6 / (double)rows, wrong);
}

int main(int argc, char **argv) {
  check(argc > 4, "usage: fabric_read SHARD_BYTES SECONDS PROVIDER ROW_BYTES...");
  size_t shard = strtoull(argv[1], NULL, 10);
  double seconds = strtod(argv[2], NULL);
  int pipes[2];
  struct node node = {0};
  struct owner owner;
  fi_addr_t to;
  check(pipe(pipes) == 0, "no pipe");
  pid_t parent = getpid();
  pid_t child = fork();
  check(child >= 0, "no process");
  if (child == 0) {
    close(pipes[0]);
    check(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent, "the reader has ended");
    serve(argv[3], shard, pipes[1]);
  }
  close(pipes[1]);
  check(read(pipes[0], &owner, sizeof owner) == (ssize_t)sizeof owner, "the owner has ended");
  open_node(&node, argv[3], WINDOW_BYTES > shard ? WINDOW_BYTES : shard);
  check(fi_av_insert(node.av, owner.name, 1, &to, 0, NULL) == 1, "fi_av_insert failed");
  for (int size = 4; size < argc; size++) {
    measure(&node, to, &owner, shard, strtoull(argv[size], NULL, 10), seconds);
  }
  close_node(&node);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  return 0;
}
