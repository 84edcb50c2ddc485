// SPDX-License-Identifier: Apache-2.0
/* Whether this process may read the memory of other processes of its user, without their help. */
#ifndef DDS_PROCESS_READ_H
#define DDS_PROCESS_READ_H

/* 0 if it may, -errno of process_vm_readv(2) on this process itself, which only a filter of system calls refuses. */
int dds_process_read_check(void);

#endif
