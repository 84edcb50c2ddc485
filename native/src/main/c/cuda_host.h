// SPDX-License-Identifier: Apache-2.0
/*
 * Page-locks memory of this process through the CUDA driver, so that copies to a device run at full speed
 * and beside the program. The driver's library is opened at run time: nothing here needs it to be built.
 */
#ifndef DDS_CUDA_HOST_H
#define DDS_CUDA_HOST_H

#include <stddef.h>

enum { DDS_CUDA_REASON_BYTES = 256 };

/* A driver and a context of one device. */
struct dds_cuda;

/*
 * Opens the driver and retains the primary context of a device, the one that frameworks use, too.
 * Memory is registered for the contexts of all devices, so a number that the driver does not have
 * stands for its first device: CUDA_VISIBLE_DEVICES may have renumbered them.
 *
 * reason receives a human-readable text of what failed if the result is not 0. The caller closes it.
 */
int dds_cuda_open(const char *library, int device, struct dds_cuda **opened, char reason[DDS_CUDA_REASON_BYTES]);

/* The number of the device whose context is retained: the one asked for, or 0. */
int dds_cuda_device(const struct dds_cuda *cuda);

/*
 * Whether dds_cuda_open may succeed: the driver is there and has a device. Makes no context.
 * driver_version gets 1000 * major + 10 * minor.
 */
int dds_cuda_probe(const char *library, int *driver_version, char reason[DDS_CUDA_REASON_BYTES]);

/* Locks whole pages; undone by dds_cuda_unregister before the memory is freed. Any thread. */
int dds_cuda_register(struct dds_cuda *cuda, void *address, size_t bytes, char reason[DDS_CUDA_REASON_BYTES]);

int dds_cuda_unregister(struct dds_cuda *cuda, void *address, char reason[DDS_CUDA_REASON_BYTES]);

/* Releases the context. The driver's library stays: its threads may still run. NULL is fine. */
void dds_cuda_close(struct dds_cuda *cuda);

#endif
