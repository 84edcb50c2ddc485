// SPDX-License-Identifier: Apache-2.0
/*
 * A process manager in the process itself: the functions of PMI-1 that Open MPI 4 calls in MPI_Init when it
 * was not started by mpirun. What they have to exchange is carried by a function of the caller.
 */
#ifndef DDS_PMI_H
#define DDS_PMI_H

#include <stddef.h>
#include <stdint.h>

/*
 * Exchanges bytes with the other processes of the world: all call it, and each gets what all of them gave, in
 * any order, in memory from malloc, which becomes the caller's. Blocks. Returns 0, or a negative number if it
 * failed here or anywhere.
 */
typedef int (*dds_pmi_exchange)(void *context, const char *mine, size_t mine_bytes, char **all, size_t *all_bytes);

/*
 * What PMI says from now on, process-wide.
 *
 * clique: the ranks that share memory with this one, and this one itself, ascending; copied.
 * Returns 0, -EBUSY if there is one already, -EINVAL or -ENOMEM.
 */
int dds_pmi_open(int rank, int size, const int *clique, int clique_size, dds_pmi_exchange exchange, void *context);

/*
 * Forgets it all; for a world that did not come to be. No other thread is in a PMI function.
 * Returns the context that dds_pmi_open was given, which is not called with any more; NULL if there is no world.
 */
void *dds_pmi_close(void);

#endif
