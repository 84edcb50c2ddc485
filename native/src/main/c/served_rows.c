// SPDX-License-Identifier: Apache-2.0
#include "served_rows.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Nonces are random, so that their first byte distributes them. */
#define BUCKETS 256

#define MOST_SHIFT 62

struct dds_served_rows {
  pthread_mutex_t lock;
  pthread_cond_t unused; /* a segment that is being removed has no user */
  struct dds_served_segment *buckets[BUCKETS];
  size_t references;
  int64_t requests;
};

struct dds_served_rows *dds_rows_open(void) {
  struct dds_served_rows *rows = calloc(1, sizeof *rows);
  if (rows != NULL) {
    pthread_mutex_init(&rows->lock, NULL);
    pthread_cond_init(&rows->unused, NULL);
    rows->references = 1;
  }
  return rows;
}

void dds_rows_retain(struct dds_served_rows *rows) {
  pthread_mutex_lock(&rows->lock);
  rows->references++;
  pthread_mutex_unlock(&rows->lock);
}

static void free_segment(struct dds_served_segment *segment) {
  if (segment != NULL) {
    free(segment->chunks);
    free(segment->chunk_starts);
    free(segment->entries);
    free(segment);
  }
}

static int64_t *copy_of(const int64_t *array, size_t count) {
  int64_t *copy = calloc(count + 1, sizeof *copy);
  if (copy != NULL && count > 0) {
    memcpy(copy, array, count * sizeof *copy);
  }
  return copy;
}

/* Returns a copy with arrays of its own, or NULL if there is no memory. */
static struct dds_served_segment *copy_segment(const struct dds_served_segment *segment) {
  struct dds_served_segment *copy = malloc(sizeof *copy);
  if (copy == NULL) {
    return NULL;
  }
  *copy = *segment;
  copy->users = 0;
  copy->next = NULL;
  int ragged = segment->record_bytes == 0;
  copy->chunks = copy_of(segment->chunks, segment->chunk_count);
  copy->chunk_starts = ragged ? copy_of(segment->chunk_starts, segment->chunk_count + 1) : NULL;
  copy->entries = ragged ? copy_of(segment->entries, segment->entry_count) : NULL;
  if (copy->chunks == NULL || (ragged && (copy->chunk_starts == NULL || copy->entries == NULL))) {
    free_segment(copy);
    return NULL;
  }
  return copy;
}

static int is_shift(int shift) {
  return shift >= 0 && shift <= MOST_SHIFT;
}

void dds_rows_release(struct dds_served_rows *rows) {
  pthread_mutex_lock(&rows->lock);
  size_t left = --rows->references;
  pthread_mutex_unlock(&rows->lock);
  if (left > 0) {
    return;
  }
  for (size_t b = 0; b < BUCKETS; b++) {
    while (rows->buckets[b] != NULL) {
      struct dds_served_segment *segment = rows->buckets[b];
      rows->buckets[b] = segment->next;
      free_segment(segment);
    }
  }
  pthread_cond_destroy(&rows->unused);
  pthread_mutex_destroy(&rows->lock);
  free(rows);
}

/* Returns the place of the pointer to a segment, or to NULL. */
static struct dds_served_segment **place(struct dds_served_rows *rows, const uint8_t *nonce) {
  struct dds_served_segment **at = &rows->buckets[nonce[0]];
  while (*at != NULL && memcmp((*at)->nonce, nonce, DDS_NONCE_BYTES) != 0) {
    at = &(*at)->next;
  }
  return at;
}

int dds_rows_add(struct dds_served_rows *rows, const struct dds_served_segment *segment) {
  if (segment->record_bytes < 0 || !is_shift(segment->row_shift) || !is_shift(segment->entry_shift)) {
    return -EINVAL;
  }
  struct dds_served_segment *copy = copy_segment(segment);
  if (copy == NULL) {
    return -ENOMEM;
  }
  pthread_mutex_lock(&rows->lock);
  struct dds_served_segment **at = place(rows, copy->nonce);
  if (*at == NULL) {
    *at = copy;
    copy = NULL;
  }
  pthread_mutex_unlock(&rows->lock);
  free_segment(copy); /* it is there */
  return 0;
}

void dds_rows_remove(struct dds_served_rows *rows, const uint8_t *nonce) {
  pthread_mutex_lock(&rows->lock);
  struct dds_served_segment **at = place(rows, nonce);
  struct dds_served_segment *segment = *at;
  if (segment != NULL) {
    *at = segment->next;
    while (segment->users > 0) {
      pthread_cond_wait(&rows->unused, &rows->lock);
    }
  }
  pthread_mutex_unlock(&rows->lock);
  free_segment(segment);
}

struct dds_served_segment *dds_rows_find(struct dds_served_rows *rows, const uint8_t *nonce) {
  pthread_mutex_lock(&rows->lock);
  struct dds_served_segment *segment = *place(rows, nonce);
  if (segment != NULL) {
    segment->users++;
  }
  pthread_mutex_unlock(&rows->lock);
  return segment;
}

void dds_rows_end_use(struct dds_served_rows *rows, struct dds_served_segment *segment) {
  pthread_mutex_lock(&rows->lock);
  if (--segment->users == 0) {
    pthread_cond_broadcast(&rows->unused);
  }
  pthread_mutex_unlock(&rows->lock);
}

void dds_rows_count(struct dds_served_rows *rows, int64_t more) {
  __atomic_fetch_add(&rows->requests, more, __ATOMIC_RELAXED);
}

int64_t dds_rows_counted(struct dds_served_rows *rows) {
  return __atomic_load_n(&rows->requests, __ATOMIC_RELAXED);
}
