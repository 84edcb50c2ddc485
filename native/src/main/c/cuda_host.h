// SPDX-License-Identifier: Apache-2.0
/*
 * Page-locking of this process's memory through the CUDA driver, so that copies to a device run at
 * full speed and asynchronously. The driver's library is opened at run time; the build does not
 * need it.
 */
#ifndef DDS_CUDA_HOST_H
#define DDS_CUDA_HOST_H

#include <stddef.h>

enum { DDS_CUDA_REASON_BYTES = 256 };

/* The CUDA driver and the primary context of one device. */
struct dds_cuda;

/*
 * Opens the driver and retains the primary context of a device, which frameworks also use. The
 * caller closes the result. Memory is registered for the contexts of all devices, so an unknown
 * device number selects the first device: CUDA_VISIBLE_DEVICES may have renumbered them.
 *
 * reason receives a human-readable text of the failure if the result is not 0.
 */
int dds_cuda_open(const char *library, int device, struct dds_cuda **opened, char reason[DDS_CUDA_REASON_BYTES]);

/* Returns the number of the device whose context is retained: the requested one, or 0. */
int dds_cuda_device(const struct dds_cuda *cuda);

/*
 * Checks that the driver exists and has a device, as dds_cuda_open needs. Creates no context.
 * driver_version receives 1000 * major + 10 * minor.
 */
int dds_cuda_probe(const char *library, int *driver_version, char reason[DDS_CUDA_REASON_BYTES]);

/* Locks whole pages, until dds_cuda_unregister, before the memory is freed. Any thread. */
int dds_cuda_register(struct dds_cuda *cuda, void *address, size_t bytes, char reason[DDS_CUDA_REASON_BYTES]);

int dds_cuda_unregister(struct dds_cuda *cuda, void *address, char reason[DDS_CUDA_REASON_BYTES]);

/* Releases the context. The driver's library stays: its threads may run. NULL is allowed. */
void dds_cuda_close(struct dds_cuda *cuda);

#endif
