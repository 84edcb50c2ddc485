// SPDX-License-Identifier: Apache-2.0
/*
 * Page-locking of this process's memory through the CUDA driver, so that copies to a device run at
 * full speed and asynchronously.
 */
#ifndef DDS_CUDA_HOST_H
#define DDS_CUDA_HOST_H

#include "cuda_driver.h"

/* Locks whole pages for all contexts, until dds_cuda_unregister, before the memory is freed. Any thread. */
int dds_cuda_register(struct dds_cuda *cuda, void *address, size_t bytes, char reason[DDS_CUDA_REASON_BYTES]);

int dds_cuda_unregister(struct dds_cuda *cuda, void *address, char reason[DDS_CUDA_REASON_BYTES]);

#endif
