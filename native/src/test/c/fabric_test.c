// SPDX-License-Identifier: Apache-2.0
/*
 * Reads between two processes over libfabric's software for TCP on loopback, and a reader whose
 * owner dies.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "fabric_read.h"

enum { SHARD_BYTES = 8 << 20, ADDRESS_BYTES = 256, MOST_READS = 600, KEY = 0x5EED };

/*
 * libfabric and its libraries keep some memory until the process ends; net of 1.17 keeps 1 KB of
 * each endpoint.
 */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
  return "leak:libfabric\nleak:libibverbs\nleak:libpsm\nleak:libefa\nleak:librdmacm\nleak:libnl\nleak:dlopen\n";
}

struct owner {
  pid_t pid;
  char address[ADDRESS_BYTES];
  uint64_t key, base;
};

static const char LOOPBACK[] = "127.0.0.1";
static struct dds_fabric *library;
static const char *provider;

/*
 * Returns the name of libfabric's software for TCP without connections: net in 1.17, tcp later;
 * NULL if none.
 */
static const char *software(void) {
  static const char *const names[] = {"tcp", "net"};
  const char *found = NULL;
  struct fi_info *offers = NULL;
  CHECK(dds_fabric_offers(library, NULL, NULL, LOOPBACK, &offers) == 0);
  for (const struct fi_info *offer = offers; offer != NULL; offer = offer->next) {
    for (int i = 0; i < 2; i++) {
      found = strcmp(offer->fabric_attr->prov_name, names[i]) == 0 ? names[i] : found;
    }
  }
  library->freeinfo(offers);
  return found;
}

static void opens_whole_provider_names_only(void) {
  struct dds_fabric_end *end;
  const char *call;
  CHECK(dds_fabric_open(library, "ofi_rxm", NULL, LOOPBACK, DDS_FABRIC_READ, &end, &call) == -FI_ENODATA);
  CHECK(end == NULL && strcmp(call, "fi_getinfo") == 0);
}

static unsigned char byte_at(uint64_t place) {
  return (unsigned char)((place * 0x9E3779B97F4A7C15u) >> 56);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The child process: registers a shard, sends its address, and serves until it is killed. */
static void serve(int out) {
  struct dds_fabric_end *end;
  struct fid_mr *region;
  const char *call;
  struct owner said = {0};
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  CHECK(dds_fabric_open(library, provider, NULL, LOOPBACK, DDS_FABRIC_SERVE, &end, &call) == 0);
  unsigned char *shard = mmap(NULL, SHARD_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(shard != MAP_FAILED);
  for (uint64_t i = 0; i < SHARD_BYTES; i++) {
    shard[i] = byte_at(i);
  }
  CHECK(dds_fabric_chooses_keys(end));
  CHECK(dds_fabric_register(end, shard, SHARD_BYTES, KEY, &region) == 0);
  CHECK(dds_fabric_address(end, said.address, ADDRESS_BYTES) > 0);
  said.key = fi_mr_key(region);
  said.base = dds_fabric_base(end, shard);
  CHECK(said.key == KEY);
  CHECK(write(out, &said, sizeof said) == sizeof said);
  while (true) {
    CHECK(dds_fabric_progress(end, 100) == 0);
  }
}

static struct owner start(void) {
  int both[2];
  struct owner owner;
  CHECK(pipe(both) == 0);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    close(both[0]);
    serve(both[1]);
  }
  close(both[1]);
  CHECK(read(both[0], &owner, sizeof owner) == sizeof owner);
  close(both[0]);
  owner.pid = child;
  return owner;
}

static void end(struct owner owner) {
  kill(owner.pid, SIGKILL);
  CHECK(waitpid(owner.pid, NULL, 0) == owner.pid);
}

static struct dds_fabric_reader *open_reader(struct owner owner, size_t in_flight, int *source) {
  struct dds_fabric_reader *reader;
  const char *call;
  CHECK(dds_reader_open(library, provider, NULL, LOOPBACK, in_flight, &reader, &call) == 0);
  int peer = dds_reader_add_peer(reader, owner.address);
  CHECK(peer >= 0);
  CHECK(dds_reader_add_source(reader, peer + 1, owner.key) == -EINVAL);
  CHECK(dds_reader_add_source(reader, -1, owner.key) == -EINVAL);
  *source = dds_reader_add_source(reader, peer, owner.key);
  CHECK(*source == 0);
  return reader;
}

/* Runs until the reads have ended or the time has elapsed. */
static int run(struct dds_fabric_reader *reader, double most_seconds) {
  double until = seconds() + most_seconds;
  int result;
  do {
    result = dds_reader_run(reader, 20);
  } while (result == 0 && seconds() < until);
  return result;
}

/* Reads random pieces; some are empty, some adjacent and some longer than a message. */
static void reads_the_bytes_of_the_owner(struct owner owner, size_t in_flight, unsigned seed) {
  static struct dds_read reads[MOST_READS];
  static unsigned char landing[3 * SHARD_BYTES + 64];
  int source;
  struct dds_fabric_reader *reader = open_reader(owner, in_flight, &source);
  int region = dds_reader_add_landing(reader, landing, sizeof landing);
  CHECK(region == 0);
  srandom(seed);
  for (int round = 0; round < 6; round++) {
    uint64_t at = 0;
    uint64_t place = 0;
    uint32_t count = round == 0 ? 1 : MOST_READS;
    memset(landing, 0xAB, sizeof landing);
    for (uint32_t i = 0; i < count; i++) {
      uint64_t bytes = random() % (i % 97 == 0 ? 70000 : 300) * (random() % 9 != 0);
      place = random() % 3 == 0 && place + bytes <= SHARD_BYTES ? place : random() % (SHARD_BYTES - bytes);
      reads[i] = (struct dds_read){.remote = owner.base + place,
                                   .landing = (uintptr_t)landing + at,
                                   .bytes = (uint32_t)bytes,
                                   .source = (uint32_t)source,
                                   .region = (uint32_t)region};
      at += bytes;
      place += bytes;
    }
    CHECK(dds_reader_begin(reader, reads, count) == 0);
    CHECK(run(reader, 20) == 1);
    CHECK(dds_reader_bytes(reader) == at);
    for (uint32_t i = 0; i < count; i++) {
      const unsigned char *come = (const unsigned char *)(uintptr_t)reads[i].landing;
      for (uint32_t b = 0; b < reads[i].bytes; b++) {
        CHECK(come[b] == byte_at(reads[i].remote - owner.base + b));
      }
    }
    CHECK(landing[at] == 0xAB);
  }
  uint64_t first = (uintptr_t)landing;
  uint64_t wrong[][2] = {{first - 1, 1},
                         {first + sizeof landing, 1},
                         {first + sizeof landing + 1, 0},
                         {first + sizeof landing - 7, 8},
                         {first, sizeof landing + 1},
                         {UINT64_MAX, 1},
                         {0, 1}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    reads[0].landing = wrong[i][0];
    reads[0].bytes = (uint32_t)wrong[i][1];
    CHECK(dds_reader_begin(reader, reads, 1) == -EINVAL);
  }
  reads[0].landing = first + sizeof landing - 8;
  reads[0].bytes = 8;
  CHECK(dds_reader_begin(reader, reads, 1) == 0);
  CHECK(run(reader, 20) == 1);
  reads[0].source = 1;
  CHECK(dds_reader_begin(reader, reads, 1) == -EINVAL);
  reads[0].source = (uint32_t)source;
  dds_reader_remove_landing(reader, region);
  CHECK(dds_reader_begin(reader, reads, 1) == -EINVAL);
  dds_reader_close(reader);
}

static void rejects_a_wrong_key_or_range(struct owner owner) {
  static unsigned char landing[64];
  for (int wrong = 0; wrong < 2; wrong++) {
    int source;
    struct owner other = owner;
    other.key += wrong == 0;
    struct dds_fabric_reader *reader = open_reader(other, 1 << 20, &source);
    int region = dds_reader_add_landing(reader, landing, sizeof landing);
    struct dds_read read = {.remote = owner.base + (wrong == 0 ? 0 : SHARD_BYTES - 32),
                            .landing = (uintptr_t)landing,
                            .bytes = 64,
                            .region = (uint32_t)region};
    memset(landing, 0xAB, sizeof landing);
    CHECK(dds_reader_begin(reader, &read, 1) == 0);
    CHECK(run(reader, 10) < 0);
    CHECK(dds_reader_run(reader, 20) < 0);
    CHECK(dds_reader_trouble(reader) == source);
    for (size_t i = 0; i < sizeof landing; i++) {
      CHECK(landing[i] == 0xAB);
    }
    dds_reader_close(reader);
  }
}

static void read_fails_after_the_owner_is_killed(void) {
  static unsigned char landing[64];
  struct owner owner = start();
  int source;
  struct dds_fabric_reader *reader = open_reader(owner, 1 << 20, &source);
  struct dds_read read = {.remote = owner.base, .landing = (uintptr_t)landing, .bytes = 64};
  read.region = (uint32_t)dds_reader_add_landing(reader, landing, sizeof landing);
  CHECK(dds_reader_begin(reader, &read, 1) == 0);
  CHECK(run(reader, 10) == 1);
  end(owner);
  CHECK(dds_reader_begin(reader, &read, 1) == 0);
  CHECK(run(reader, 10) < 0);
  dds_reader_close(reader);

  reader = open_reader(owner, 1 << 20, &source);
  read.region = (uint32_t)dds_reader_add_landing(reader, landing, sizeof landing);
  CHECK(dds_reader_begin(reader, &read, 1) == 0);
  CHECK(run(reader, 0.3) <= 0); /* most versions retry forever */
  CHECK(dds_reader_trouble(reader) == source);
  dds_reader_close(reader);
}

/* Stops an owner after it has received requests; it answers after the reader has closed. */
static void late_answers_change_nothing(void) {
  static unsigned char landing[SHARD_BYTES];
  static struct dds_read reads[128];
  struct owner owner = start();
  int source;
  struct dds_fabric_reader *reader = open_reader(owner, 4 << 20, &source);
  int region = dds_reader_add_landing(reader, landing, sizeof landing);
  for (uint32_t i = 0; i < 128; i++) {
    uint64_t at = (uint64_t)i * (SHARD_BYTES / 128);
    reads[i] = (struct dds_read){.remote = owner.base + at,
                                 .landing = (uintptr_t)landing + at,
                                 .bytes = SHARD_BYTES / 128,
                                 .region = (uint32_t)region};
  }
  CHECK(dds_reader_begin(reader, reads, 128) == 0);
  CHECK(run(reader, 10) == 1); /* connected */
  CHECK(kill(owner.pid, SIGSTOP) == 0);
  memset(landing, 0xAB, sizeof landing);
  CHECK(dds_reader_begin(reader, reads, 128) == 0);
  CHECK(run(reader, 0.3) == 0);
  double since = seconds();
  dds_reader_close(reader);
  CHECK(seconds() - since < 5);
  memset(landing, 0xCD, sizeof landing);
  CHECK(kill(owner.pid, SIGCONT) == 0);
  reader = open_reader(owner, 4 << 20, &source);
  static unsigned char other[64];
  struct dds_read one = {.remote = owner.base, .landing = (uintptr_t)other, .bytes = sizeof other};
  one.region = (uint32_t)dds_reader_add_landing(reader, other, sizeof other);
  CHECK(dds_reader_begin(reader, &one, 1) == 0);
  CHECK(run(reader, 10) == 1); /* the owner runs again */
  for (size_t i = 0; i < sizeof landing; i++) {
    CHECK(landing[i] == 0xCD);
  }
  dds_reader_close(reader);
  end(owner);
}

enum { BIG_READS = 32, BIG_BYTES = SHARD_BYTES / BIG_READS, ROUNDS = 20 };

/* Starts large reads of all owners in turn; their answers arrive in parts. */
static struct dds_fabric_reader *begin_big_reads(const struct owner *owners, int count, unsigned char *landing) {
  static struct dds_read reads[BIG_READS];
  int source;
  struct dds_fabric_reader *reader = open_reader(owners[0], SHARD_BYTES, &source);
  uint32_t region = (uint32_t)dds_reader_add_landing(reader, landing, SHARD_BYTES);
  for (int i = 1; i < count; i++) {
    int peer = dds_reader_add_peer(reader, owners[i].address);
    CHECK(dds_reader_add_source(reader, peer, owners[i].key) == i);
  }
  for (uint32_t i = 0; i < BIG_READS; i++) {
    uint32_t from = i % (uint32_t)count;
    reads[i] = (struct dds_read){.remote = owners[from].base + (uint64_t)i * BIG_BYTES,
                                 .landing = (uintptr_t)landing + (uint64_t)i * BIG_BYTES,
                                 .bytes = BIG_BYTES,
                                 .source = from,
                                 .region = region};
  }
  CHECK(dds_reader_begin(reader, reads, (uint32_t)count) == 0);
  CHECK(run(reader, 20) == 1); /* connected */
  CHECK(dds_reader_begin(reader, reads, BIG_READS) == 0);
  return reader;
}

static void run_for_microseconds(struct dds_fabric_reader *reader, long microseconds) {
  for (double until = seconds() + (double)microseconds / 1e6; seconds() < until;) {
    CHECK(dds_reader_run(reader, 0) >= 0);
  }
}

/*
 * libfabric 1.17 reports a read twice whose answer breaks off; over tcp;ofi_rxm that ended the
 * process.
 */
static void survives_a_close_during_an_answer(void) {
  static unsigned char landing[SHARD_BYTES];
  for (int round = 0; round < ROUNDS; round++) {
    struct owner owner = start();
    struct dds_fabric_reader *reader = begin_big_reads(&owner, 1, landing);
    run_for_microseconds(reader, random() % 3000);
    CHECK(kill(owner.pid, SIGSTOP) == 0);
    run_for_microseconds(reader, 2000);
    dds_reader_close(reader);
    memset(landing, 0xCD, sizeof landing);
    end(owner);
    for (size_t i = 0; i < sizeof landing; i++) {
      CHECK(landing[i] == 0xCD);
    }
  }
}

static void survives_a_killed_owner_beside_another(void) {
  static unsigned char landing[SHARD_BYTES];
  for (int round = 0; round < ROUNDS; round++) {
    struct owner owners[] = {start(), start()};
    memset(landing, 0xCD, sizeof landing);
    struct dds_fabric_reader *reader = begin_big_reads(owners, 2, landing);
    run_for_microseconds(reader, random() % 1500);
    end(owners[round % 2]);
    int result = run(reader, 20);
    CHECK(result < 0 || dds_reader_bytes(reader) == SHARD_BYTES);
    CHECK(result > 0 || dds_reader_trouble(reader) == round % 2);
    dds_reader_close(reader);
    end(owners[1 - round % 2]);
    for (size_t i = 0; i < sizeof landing; i++) {
      CHECK(landing[i] == byte_at(i) || (result < 0 && landing[i] == 0xCD));
    }
  }
}

static void signal_handlers_are_unchanged(const struct sigaction *before) {
  for (int s = 1; s < 32; s++) {
    struct sigaction now;
    if (sigaction(s, NULL, &now) == 0) {
      CHECK(now.sa_sigaction == before[s].sa_sigaction);
    }
  }
}

int main(void) {
  char why[256];
  struct sigaction before[32];
  for (int s = 1; s < 32; s++) {
    sigaction(s, NULL, &before[s]);
  }
  CHECK(dds_fabric_load("libnowhere.so.1", &library, why, sizeof why) < 0 && strstr(why, "libnowhere") != NULL);
  CHECK(dds_fabric_load("libc.so.6", &library, why, sizeof why) < 0 && strstr(why, "not libfabric") != NULL);
  if (dds_fabric_load("libfabric.so.1", &library, why, sizeof why) < 0) {
    printf("skipped: %s\n", why);
    return 0;
  }
  signal_handlers_are_unchanged(before);
  provider = software();
  if (provider == NULL) {
    printf("skipped: this libfabric reaches TCP only by tcp;ofi_rxm\n");
    free(library);
    return 0;
  }
  opens_whole_provider_names_only();
  struct owner owner = start();
  reads_the_bytes_of_the_owner(owner, 8 << 20, 1);
  reads_the_bytes_of_the_owner(owner, 64 << 10, 2);
  rejects_a_wrong_key_or_range(owner);
  end(owner);
  read_fails_after_the_owner_is_killed();
  late_answers_change_nothing();
  survives_a_close_during_an_answer();
  survives_a_killed_owner_beside_another();
  free(library);
  return 0;
}
