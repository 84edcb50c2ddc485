// SPDX-License-Identifier: Apache-2.0
/* The PMI calls of Open MPI. The callback acts as the other process of the world. */
#include "pmi.h"

#include <errno.h>
#include <string.h>

#include "check.h"

int PMI_Init(int *spawned);
int PMI_Initialized(int *initialized);
int PMI_Finalize(void);
int PMI_Get_size(int *size);
int PMI_Get_rank(int *rank);
int PMI_Get_universe_size(int *size);
int PMI_Get_appnum(int *number);
int PMI_Get_clique_size(int *size);
int PMI_Get_clique_ranks(int *ranks, int length);
int PMI_KVS_Get_name_length_max(int *length);
int PMI_KVS_Get_key_length_max(int *length);
int PMI_KVS_Get_value_length_max(int *length);
int PMI_KVS_Get_my_name(char *name, int length);
int PMI_KVS_Put(const char *name, const char *key, const char *value);
int PMI_KVS_Commit(const char *name);
int PMI_Barrier(void);
int PMI_KVS_Get(const char *name, const char *key, char *value, int length);
int PMI_Abort(int code, const char *message);

struct other {
  const char *bytes; /* bytes of the other process */
  size_t length;
  int result;
  int calls;
};

static int exchange(void *context, const char *mine, size_t mine_bytes, char **all, size_t *all_bytes) {
  struct other *other = context;
  other->calls++;
  if (other->result != 0) {
    return other->result;
  }
  *all = malloc(mine_bytes + other->length + 1);
  CHECK(*all != NULL);
  if (mine_bytes > 0) {
    memcpy(*all, mine, mine_bytes);
  }
  memcpy(*all + mine_bytes, other->bytes, other->length);
  *all_bytes = mine_bytes + other->length;
  return 0;
}

static void reports_the_given_ranks_and_sizes(void) {
  const int clique[] = {1, 3};
  struct other other = {"", 0, 0, 0};
  int number = 0;
  int ranks[2] = {0, 0};
  char name[32];
  CHECK(dds_pmi_open(3, 5, clique, 2, exchange, &other) == 0);
  CHECK(dds_pmi_open(3, 5, clique, 2, exchange, &other) == -EBUSY);
  CHECK(PMI_Initialized(&number) == 0 && number == 0);
  CHECK(PMI_Init(&number) == 0 && number == 0);
  CHECK(PMI_Initialized(&number) == 0 && number == 1);
  CHECK(PMI_Get_rank(&number) == 0 && number == 3);
  CHECK(PMI_Get_size(&number) == 0 && number == 5);
  CHECK(PMI_Get_universe_size(&number) == 0 && number == 5);
  CHECK(PMI_Get_appnum(&number) == 0 && number == 0);
  CHECK(PMI_Get_clique_size(&number) == 0 && number == 2);
  CHECK(PMI_Get_clique_ranks(ranks, 1) != 0);
  CHECK(PMI_Get_clique_ranks(ranks, 2) == 0 && ranks[0] == 1 && ranks[1] == 3);
  CHECK(PMI_KVS_Get_name_length_max(&number) == 0 && number <= (int)sizeof name);
  CHECK(PMI_KVS_Get_key_length_max(&number) == 0 && number > 0);
  CHECK(PMI_KVS_Get_value_length_max(&number) == 0 && number > 0);
  CHECK(PMI_KVS_Get_my_name(name, (int)sizeof name) == 0 && strlen(name) > 0);
  CHECK(PMI_KVS_Get_my_name(name, 1) != 0);
  CHECK(PMI_Finalize() == 0);
  CHECK(dds_pmi_close() == &other);
  CHECK(dds_pmi_open(3, 5, clique, 2, exchange, &other) == 0); /* like the first open */
  CHECK(dds_pmi_close() == &other);
}

static void exchanges_pairs(void) {
  const int clique[] = {0};
  struct other other = {"1-a\0other\0", 10, 0, 0};
  char value[16];
  CHECK(dds_pmi_open(0, 2, clique, 1, exchange, &other) == 0);
  CHECK(PMI_KVS_Put("space", "0-a", "mine") == 0);
  CHECK(PMI_KVS_Get("space", "0-a", value, (int)sizeof value) != 0);
  CHECK(PMI_KVS_Commit("space") == 0);
  CHECK(PMI_Barrier() == 0 && other.calls == 1);
  CHECK(PMI_KVS_Get("space", "0-a", value, (int)sizeof value) == 0 && strcmp(value, "mine") == 0);
  CHECK(PMI_KVS_Get("space", "1-a", value, (int)sizeof value) == 0 && strcmp(value, "other") == 0);
  CHECK(PMI_KVS_Get("space", "1-a", value, 3) != 0);
  CHECK(PMI_KVS_Get("space", "1-b", value, (int)sizeof value) != 0);
  other.length = 0;
  CHECK(PMI_Barrier() == 0 && other.calls == 2);
  dds_pmi_close();
}

static void refuses_truncated_pairs(void) {
  const int clique[] = {0};
  struct other other = {"1-a\0oth", 7, 0, 0};
  CHECK(dds_pmi_open(0, 2, clique, 1, exchange, &other) == 0);
  CHECK(PMI_Barrier() != 0);
  other.length = 4; /* a key without a value */
  CHECK(PMI_Barrier() != 0);
  other.result = -EIO;
  CHECK(PMI_Barrier() != 0);
  dds_pmi_close();
}

static void refuses_without_a_world(void) {
  int number = 0;
  char value[4];
  const int clique[] = {0};
  CHECK(dds_pmi_open(2, 2, clique, 1, exchange, NULL) == -EINVAL);
  CHECK(dds_pmi_open(0, 2, clique, 0, exchange, NULL) == -EINVAL);
  CHECK(PMI_Init(&number) != 0);
  CHECK(PMI_Get_rank(&number) != 0);
  CHECK(PMI_Barrier() != 0);
  CHECK(PMI_KVS_Put("space", "k", "v") != 0);
  CHECK(PMI_KVS_Get("space", "k", value, 4) != 0);
  CHECK(PMI_Abort(1, "") == 0);
  CHECK(dds_pmi_close() == NULL);
}

int main(void) {
  reports_the_given_ranks_and_sizes();
  exchanges_pairs();
  refuses_truncated_pairs();
  refuses_without_a_world();
  return 0;
}
