/*
 * What a read costs by plain MPI: rank 0 reads random rows of the other ranks, each by lock, get and unlock.
 * Prints for each row size: row bytes, microseconds per row, bytes that were wrong. Begun by mpirun.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLOCK_ROWS = 64 }; /* rows between two looks at the clock */

static uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static unsigned char pattern(int rank, long byte) { return (unsigned char)(byte * 31 + rank * 17 + (byte >> 8)); }

static int fail(const char *what) {
  fprintf(stderr, "mpi_read: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
  return 1;
}

static void measure(MPI_Win window, int ranks, long row_bytes, long rows, double seconds) {
  unsigned char *row = malloc((size_t)row_bytes);
  uint64_t random = 0x9E3779B97F4A7C15u;
  long done = 0;
  long wrong = 0;
  double begin;
  double spent;
  if (row == NULL) {
    fail("no memory for a row");
    return;
  }
  begin = MPI_Wtime();
  do {
    for (int i = 0; i < CLOCK_ROWS; i++) {
      int target = 1 + (int)(next_random(&random) % (uint64_t)(ranks - 1));
      long index = (long)(next_random(&random) % (uint64_t)rows);
      MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
      MPI_Get(row, (int)row_bytes, MPI_BYTE, target, (MPI_Aint)(index * row_bytes), (int)row_bytes, MPI_BYTE, window);
      MPI_Win_unlock(target, window);
      wrong += row[0] != pattern(target, index * row_bytes);
    }
    done += CLOCK_ROWS;
    spent = MPI_Wtime() - begin;
  } while (spent < seconds);
  printf("%ld %.4f %ld\n", row_bytes, spent * 1e6 / (double)done, wrong);
  fflush(stdout);
  free(row);
}

int main(int count, char **arguments) {
  int rank;
  int ranks;
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < 2 || count < 4) {
    return fail("usage: mpirun -n RANKS mpi_read SHARD_BYTES SECONDS ROW_BYTES..");
  }
  long shard_bytes = atol(arguments[1]);
  double seconds = atof(arguments[2]);
  unsigned char *shard = malloc((size_t)shard_bytes);
  MPI_Win window;
  if (shard == NULL) {
    return fail("no memory for a shard");
  }
  for (long byte = 0; byte < shard_bytes; byte++) {
    shard[byte] = pattern(rank, byte);
  }
  MPI_Win_create(shard, (MPI_Aint)shard_bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  for (int i = 3; i < count; i++) {
    long row_bytes = atol(arguments[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      measure(window, ranks, row_bytes, shard_bytes / row_bytes, seconds);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Win_free(&window);
  free(shard);
  MPI_Finalize();
  return 0;
}
