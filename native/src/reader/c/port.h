// SPDX-License-Identifier: Apache-2.0
/* A connection to the data port of a process, docs/handle.md. */
#ifndef DDS_PORT_H
#define DDS_PORT_H

#include "handle.h"

/*
 * Connects to a process, and proves the key. Blocks.
 *
 * end_ns  end of the wait, by CLOCK_MONOTONIC
 * socket  set to a socket that does not block
 *
 * Returns DDS_OK, DDS_STORE_GONE, DDS_EXPIRED, DDS_REVOKED, DDS_REFUSED, DDS_LOST if nobody listens there or another
 * process does, DDS_DEADLINE, or DDS_SYSTEM, which can be temporary.
 */
int dds_port_open(const struct dds_handle *handle, const struct dds_process *process, int64_t end_ns, int *socket,
                  struct dds_error *error);

#endif
