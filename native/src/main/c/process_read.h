// SPDX-License-Identifier: Apache-2.0
/* A check that this process may read other processes of its user without their cooperation. */
#ifndef DDS_PROCESS_READ_H
#define DDS_PROCESS_READ_H

/*
 * Returns 0, or -errno of process_vm_readv(2) on this process itself, which only a system call
 * filter refuses.
 */
int dds_process_read_check(void);

#endif
