// SPDX-License-Identifier: Apache-2.0
#include "pmi.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PMI_SUCCESS 0
#define PMI_FAIL (-1)
#define PMI_ERR_INVALID_KEY 4
#define PMI_ERR_INVALID_LENGTH 8

#define EXPORTED __attribute__((visibility("default")))

/* Maximum text lengths. Open MPI splits one record into values: longer values need fewer keys. */
enum { NAME_BYTES = 32, KEY_BYTES = 64, VALUE_BYTES = 4096, BUCKETS = 1024 };

static const char NAME[] = "ddstore";

struct pair {
  struct pair *next;
  const char *value;
  char key[]; /* key, 0, value, 0 */
};

struct text {
  char *bytes; /* key, 0, value, 0, key, 0, .. */
  size_t length;
  size_t capacity;
};

struct world {
  int rank;
  int size;
  int initialized;
  dds_pmi_exchange exchange;
  void *context;
  struct text mine; /* pairs put since the last barrier */
  struct pair *known[BUCKETS];
  int clique_size;
  int clique[];
};

/* Process-wide, because PMI's functions take no handle. */
static struct world *current;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t bucket_of(const char *key) {
  uint32_t hash = 2166136261u;
  for (; *key != 0; key++) {
    hash = (hash ^ (unsigned char)*key) * 16777619u;
  }
  return hash % BUCKETS;
}

static int append(struct text *text, const char *bytes) {
  size_t more = strlen(bytes) + 1;
  if (text->capacity - text->length < more) {
    size_t capacity = 2 * (text->length + more);
    char *larger = realloc(text->bytes, capacity);
    if (larger == NULL) {
      return PMI_FAIL;
    }
    text->bytes = larger;
    text->capacity = capacity;
  }
  memcpy(text->bytes + text->length, bytes, more);
  text->length += more;
  return PMI_SUCCESS;
}

static int learn(struct world *world, const char *key, const char *value) {
  size_t key_bytes = strlen(key) + 1;
  size_t value_bytes = strlen(value) + 1;
  uint32_t bucket = bucket_of(key);
  struct pair *pair = malloc(sizeof *pair + key_bytes + value_bytes);
  if (pair == NULL) {
    return PMI_FAIL;
  }
  memcpy(pair->key, key, key_bytes);
  memcpy(pair->key + key_bytes, value, value_bytes);
  pair->value = pair->key + key_bytes;
  pair->next = world->known[bucket];
  world->known[bucket] = pair;
  return PMI_SUCCESS;
}

/* Reads nothing past the end of the bytes, because other processes send them. */
static int learn_all(struct world *world, const char *bytes, size_t length) {
  int result = PMI_SUCCESS;
  size_t at = 0;
  if (length > 0 && bytes[length - 1] != 0) {
    return PMI_FAIL;
  }
  pthread_mutex_lock(&lock);
  while (at < length && result == PMI_SUCCESS) {
    const char *key = bytes + at;
    at += strlen(key) + 1;
    if (at == length) {
      result = PMI_FAIL;
    } else {
      result = learn(world, key, bytes + at);
      at += strlen(bytes + at) + 1;
    }
  }
  pthread_mutex_unlock(&lock);
  return result;
}

int dds_pmi_open(int rank, int size, const int *clique, int clique_size, dds_pmi_exchange exchange, void *context) {
  if (size < 1 || rank < 0 || rank >= size || clique_size < 1 || clique_size > size) {
    return -EINVAL;
  }
  if (current != NULL) {
    return -EBUSY;
  }
  struct world *world = calloc(1, sizeof *world + (size_t)clique_size * sizeof *clique);
  if (world == NULL) {
    return -ENOMEM;
  }
  world->rank = rank;
  world->size = size;
  world->exchange = exchange;
  world->context = context;
  world->clique_size = clique_size;
  memcpy(world->clique, clique, (size_t)clique_size * sizeof *clique);
  current = world;
  return 0;
}

void *dds_pmi_close(void) {
  struct world *world = current;
  current = NULL;
  if (world == NULL) {
    return NULL;
  }
  void *context = world->context;
  for (int bucket = 0; bucket < BUCKETS; bucket++) {
    for (struct pair *pair = world->known[bucket], *next; pair != NULL; pair = next) {
      next = pair->next;
      free(pair);
    }
  }
  free(world->mine.bytes);
  free(world);
  return context;
}

static int give(int *target, int value) {
  if (current == NULL || target == NULL) {
    return PMI_FAIL;
  }
  *target = value;
  return PMI_SUCCESS;
}

EXPORTED int PMI_Init(int *spawned) {
  if (give(spawned, 0) != PMI_SUCCESS) {
    return PMI_FAIL;
  }
  current->initialized = 1;
  return PMI_SUCCESS;
}

EXPORTED int PMI_Initialized(int *initialized) {
  return give(initialized, current == NULL ? 0 : current->initialized);
}

EXPORTED int PMI_Finalize(void) {
  if (current != NULL) {
    current->initialized = 0;
  }
  return PMI_SUCCESS;
}

EXPORTED int PMI_Get_size(int *size) {
  return give(size, current == NULL ? 0 : current->size);
}

EXPORTED int PMI_Get_rank(int *rank) {
  return give(rank, current == NULL ? 0 : current->rank);
}

EXPORTED int PMI_Get_universe_size(int *size) {
  return PMI_Get_size(size);
}

EXPORTED int PMI_Get_appnum(int *number) {
  return give(number, 0);
}

EXPORTED int PMI_Get_clique_size(int *size) {
  return give(size, current == NULL ? 0 : current->clique_size);
}

EXPORTED int PMI_Get_clique_ranks(int *ranks, int length) {
  if (current == NULL || ranks == NULL || length < current->clique_size) {
    return PMI_FAIL;
  }
  memcpy(ranks, current->clique, (size_t)current->clique_size * sizeof *ranks);
  return PMI_SUCCESS;
}

EXPORTED int PMI_KVS_Get_name_length_max(int *length) {
  return give(length, NAME_BYTES);
}

EXPORTED int PMI_KVS_Get_key_length_max(int *length) {
  return give(length, KEY_BYTES);
}

EXPORTED int PMI_KVS_Get_value_length_max(int *length) {
  return give(length, VALUE_BYTES);
}

EXPORTED int PMI_KVS_Get_my_name(char *name, int length) {
  if (current == NULL || name == NULL || length < (int)sizeof NAME) {
    return PMI_FAIL;
  }
  memcpy(name, NAME, sizeof NAME);
  return PMI_SUCCESS;
}

EXPORTED int PMI_KVS_Put(const char *name, const char *key, const char *value) {
  (void)name; /* only one key-value space exists */
  if (current == NULL || key == NULL || value == NULL) {
    return PMI_FAIL;
  }
  int result = append(&current->mine, key);
  return result == PMI_SUCCESS ? append(&current->mine, value) : result;
}

EXPORTED int PMI_KVS_Commit(const char *name) {
  (void)name; /* the next barrier sends the pairs */
  return current == NULL ? PMI_FAIL : PMI_SUCCESS;
}

EXPORTED int PMI_Barrier(void) {
  char *all = NULL;
  size_t bytes = 0;
  if (current == NULL) {
    return PMI_FAIL;
  }
  int result = current->exchange(current->context, current->mine.bytes, current->mine.length, &all, &bytes) == 0
                   ? learn_all(current, all, bytes)
                   : PMI_FAIL;
  current->mine.length = 0;
  free(all);
  return result;
}

/* Also called when MPI first contacts a rank, on any thread. */
EXPORTED int PMI_KVS_Get(const char *name, const char *key, char *value, int length) {
  int result = PMI_ERR_INVALID_KEY;
  (void)name;
  if (current == NULL || key == NULL || value == NULL || length < 1) {
    return PMI_FAIL;
  }
  pthread_mutex_lock(&lock);
  for (struct pair *pair = current->known[bucket_of(key)]; pair != NULL; pair = pair->next) {
    if (strcmp(pair->key, key) == 0) {
      size_t bytes = strlen(pair->value) + 1;
      if (bytes > (size_t)length) {
        result = PMI_ERR_INVALID_LENGTH;
      } else {
        memcpy(value, pair->value, bytes);
        result = PMI_SUCCESS;
      }
      break;
    }
  }
  pthread_mutex_unlock(&lock);
  return result;
}

/* MPI ends the process after this call, whatever the result. */
EXPORTED int PMI_Abort(int code, const char *message) {
  (void)code;
  (void)message;
  return PMI_SUCCESS;
}
