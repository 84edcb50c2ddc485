// SPDX-License-Identifier: Apache-2.0
/*
 * A process manager inside the process: the functions of PMI-1 that Open MPI 4 calls in MPI_Init
 * when it was not started by mpirun. A callback of the caller exchanges their data.
 */
#ifndef DDS_PMI_H
#define DDS_PMI_H

#include <stddef.h>
#include <stdint.h>

/*
 * Exchanges bytes between the processes of the world: all call it, and each receives the bytes of
 * all, in any order, in memory from malloc that the caller then owns. Blocks. Returns 0, or a
 * negative number if the exchange failed in any process.
 */
typedef int (*dds_pmi_exchange)(void *context, const char *mine, size_t mine_bytes, char **all, size_t *all_bytes);

/*
 * Opens the world that PMI reports to this process.
 *
 * clique: ascending ranks that share memory with this one, this one included; copied.
 * Returns 0, -EBUSY if a world is open, -EINVAL or -ENOMEM.
 */
int dds_pmi_open(int rank, int size, const int *clique, int clique_size, dds_pmi_exchange exchange, void *context);

/*
 * Closes a world whose MPI_Init failed. No other thread may be in a PMI function. Returns the
 * context of dds_pmi_open, which the callback no longer receives; NULL if no world is open.
 */
void *dds_pmi_close(void);

#endif
