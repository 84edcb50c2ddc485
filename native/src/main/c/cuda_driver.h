// SPDX-License-Identifier: Apache-2.0
/*
 * The CUDA driver of this process, opened at run time: the build needs neither its library nor its
 * headers. Names, types and numbers follow the CUDA driver API, cuda.h of release 12.
 */
#ifndef DDS_CUDA_DRIVER_H
#define DDS_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

enum { DDS_CUDA_REASON_BYTES = 256, DDS_CUDA_NO_DEVICE = -1 };

typedef int cu_result;
typedef int cu_device;
typedef void *cu_context;
typedef void *cu_stream;
typedef void *cu_event;
typedef uint64_t cu_address; /* CUdeviceptr of 64-bit systems */

enum {
  CU_SUCCESS = 0,
  CU_NOT_READY = 600,
  CU_MEMHOSTREGISTER_PORTABLE = 1,
  CU_STREAM_NON_BLOCKING = 1,
  CU_EVENT_BLOCKING_SYNC = 1,
  CU_EVENT_DISABLE_TIMING = 2
};

/* The driver and the retained primary context of one device. */
struct dds_cuda {
  void *library;
  int ordinal;
  cu_device device;
  cu_context context;
  cu_result (*init)(unsigned flags);
  cu_result (*driver_get_version)(int *version);
  cu_result (*get_error_name)(cu_result code, const char **name);
  cu_result (*device_get_count)(int *count);
  cu_result (*device_get)(cu_device *device, int ordinal);
  cu_result (*primary_retain)(cu_context *context, cu_device device);
  cu_result (*primary_release)(cu_device device);
  cu_result (*push_current)(cu_context context);
  cu_result (*pop_current)(cu_context *context);
  cu_result (*get_current)(cu_context *context);
  cu_result (*get_current_device)(cu_device *device);
  cu_result (*host_register)(void *address, size_t bytes, unsigned flags);
  cu_result (*host_unregister)(void *address);
  cu_result (*memory_allocate)(cu_address *address, size_t bytes);
  cu_result (*memory_free)(cu_address address);
  cu_result (*copy_in)(cu_address target, const void *source, size_t bytes, cu_stream stream);
  cu_result (*copy_out)(void *target, cu_address source, size_t bytes, cu_stream stream);
  cu_result (*copy_within)(cu_address target, cu_address source, size_t bytes, cu_stream stream);
  cu_result (*stream_create)(cu_stream *stream, unsigned flags);
  cu_result (*stream_destroy)(cu_stream stream);
  cu_result (*stream_synchronize)(cu_stream stream);
  cu_result (*stream_wait_event)(cu_stream stream, cu_event event, unsigned flags);
  cu_result (*event_create)(cu_event *event, unsigned flags);
  cu_result (*event_destroy)(cu_event event);
  cu_result (*event_record)(cu_event event, cu_stream stream);
  cu_result (*event_query)(cu_event event);
  cu_result (*event_synchronize)(cu_event event);
};

/* The state of the driver and of the calling thread. */
struct dds_cuda_facts {
  int version; /* 1000 * major + 10 * minor */
  int devices;
  int current; /* number of the device of the calling thread's current context, or DDS_CUDA_NO_DEVICE */
};

/*
 * Opens the driver and retains the primary context of a device, which frameworks also use. The
 * caller closes the result. reason receives a human-readable text of the failure if the result is
 * not 0; a device that does not exist is one.
 */
int dds_cuda_open(const char *library, int device, struct dds_cuda **opened, char reason[DDS_CUDA_REASON_BYTES]);

/*
 * Checks that the driver exists and has a device, as dds_cuda_open needs. Creates no context and
 * leaves the current one as it is.
 */
int dds_cuda_probe(const char *library, struct dds_cuda_facts *facts, char reason[DDS_CUDA_REASON_BYTES]);

/* Releases the context. The driver's library stays: its threads may run. NULL is allowed. */
void dds_cuda_close(struct dds_cuda *cuda);

/* Returns the driver's name of an error; never NULL. Any thread. */
const char *dds_cuda_error_name(const struct dds_cuda *cuda, int code);

/* Writes the failed call and its error into reason. Returns the code. */
int dds_cuda_failed(const struct dds_cuda *cuda, const char *call, int code, char reason[DDS_CUDA_REASON_BYTES]);

/* Makes the retained context current; dds_cuda_leave restores the previous context of the thread. */
int dds_cuda_enter(const struct dds_cuda *cuda);

void dds_cuda_leave(const struct dds_cuda *cuda);

#endif
