// SPDX-License-Identifier: Apache-2.0
/*
 * Cost of a read with plain MPI: rank 0 reads random rows of the other ranks, each by lock, get and
 * unlock, and then compares every byte with the written one. The time covers the MPI calls only.
 * Prints per row size: row bytes, microseconds per row, number of wrong bytes. Started by mpirun.
 *
 * The ranks that own the rows wait in a non-blocking barrier and poll MPI every PAUSE_US: a
 * blocking barrier spins and would take processors from the reader. With PAUSE_US 0 they spin too.
 */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
  TURN_ROWS = 64,       /* rows between two readings of the clock */
  TURN_BYTES = 16 << 20 /* maximum bytes of those rows, unless one row is larger */
};

static uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static unsigned char pattern(int rank, long byte) {
  return (unsigned char)(byte * 31 + rank * 17 + (byte >> 8));
}

static int fail(const char *what) {
  fprintf(stderr, "mpi_read: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
  return 1;
}

static long wrong_bytes(const unsigned char *row, long row_bytes, int rank, long index) {
  long wrong = 0;
  for (long byte = 0; byte < row_bytes; byte++) {
    wrong += row[byte] != pattern(rank, index * row_bytes + byte);
  }
  return wrong;
}

static void measure(MPI_Win window, int ranks, long row_bytes, long rows, double seconds) {
  long turn = TURN_BYTES / row_bytes < 1 ? 1 : TURN_BYTES / row_bytes < TURN_ROWS ? TURN_BYTES / row_bytes : TURN_ROWS;
  unsigned char *read = malloc((size_t)(turn * row_bytes));
  uint64_t random = 0x9E3779B97F4A7C15u;
  int targets[TURN_ROWS];
  long indices[TURN_ROWS];
  long done = 0;
  long wrong = 0;
  double spent = 0;
  if (read == NULL) {
    fail("no memory for rows");
    return;
  }
  while (spent < seconds) {
    double begin = MPI_Wtime();
    for (long i = 0; i < turn; i++) {
      int target = 1 + (int)(next_random(&random) % (uint64_t)(ranks - 1));
      long index = (long)(next_random(&random) % (uint64_t)rows);
      MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
      MPI_Get(read + i * row_bytes, (int)row_bytes, MPI_BYTE, target, (MPI_Aint)(index * row_bytes), (int)row_bytes,
              MPI_BYTE, window);
      MPI_Win_unlock(target, window);
      targets[i] = target;
      indices[i] = index;
    }
    spent += MPI_Wtime() - begin;
    for (long i = 0; i < turn; i++) {
      wrong += wrong_bytes(read + i * row_bytes, row_bytes, targets[i], indices[i]);
    }
    done += turn;
  }
  printf("%ld %.4f %ld\n", row_bytes, spent * 1e6 / (double)done, wrong);
  fflush(stdout);
  free(read);
}

/* Waits in a barrier that yields the processor; MPI serves reads of this rank meanwhile. */
static void meet(long pause_us) {
  struct timespec pause = {.tv_sec = 0, .tv_nsec = pause_us * 1000};
  MPI_Request request;
  int all = 0;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Test(&request, &all, MPI_STATUS_IGNORE);
  while (!all) {
    if (pause_us > 0) {
      nanosleep(&pause, NULL);
    }
    MPI_Test(&request, &all, MPI_STATUS_IGNORE);
  }
}

int main(int count, char **arguments) {
  int rank;
  int ranks;
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < 2 || count < 5) {
    return fail("usage: mpirun -n RANKS mpi_read SHARD_BYTES SECONDS PAUSE_US ROW_BYTES..");
  }
  long shard_bytes = atol(arguments[1]);
  double seconds = atof(arguments[2]);
  long pause_us = atol(arguments[3]);
  if (shard_bytes < 1 || !(seconds > 0) || pause_us < 0 || pause_us >= 1000000) {
    return fail("SHARD_BYTES below 1, SECONDS not above 0, or PAUSE_US outside [0, 1000000)");
  }
  unsigned char *shard = malloc((size_t)shard_bytes);
  MPI_Win window;
  if (shard == NULL) {
    return fail("no memory for a shard");
  }
  for (long byte = 0; byte < shard_bytes; byte++) {
    shard[byte] = pattern(rank, byte);
  }
  MPI_Win_create(shard, (MPI_Aint)shard_bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  for (int i = 4; i < count; i++) {
    long row_bytes = atol(arguments[i]);
    if (row_bytes < 1 || row_bytes > shard_bytes || row_bytes > INT32_MAX) {
      return fail("ROW_BYTES below 1, or more than a shard or an int holds");
    }
    meet(pause_us);
    if (rank == 0) {
      measure(window, ranks, row_bytes, shard_bytes / row_bytes, seconds);
    }
    meet(pause_us);
  }
  MPI_Win_free(&window);
  free(shard);
  MPI_Finalize();
  return 0;
}
