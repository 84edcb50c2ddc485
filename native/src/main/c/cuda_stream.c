// SPDX-License-Identifier: Apache-2.0
#include "cuda_stream.h"

#include <stdio.h>
#include <stdlib.h>

struct dds_cuda_stream {
  struct dds_cuda *cuda;
  cu_stream stream;
};

/* Calls the driver in the context of the stream and restores the context of the thread. */
#define IN_CONTEXT(handle, call)                  \
  do {                                            \
    const struct dds_cuda *cuda = (handle)->cuda; \
    cu_result result = dds_cuda_enter(cuda);      \
    if (result == CU_SUCCESS) {                   \
      result = cuda->call;                        \
      dds_cuda_leave(cuda);                       \
    }                                             \
    return result;                                \
  } while (0)

static int create(struct dds_cuda_stream *opening) {
  IN_CONTEXT(opening, stream_create(&opening->stream, CU_STREAM_NON_BLOCKING));
}

/* Rejects a current context that is of the device and not the one that is retained. */
static int check_current(const struct dds_cuda *cuda, char *reason) {
  cu_context current = NULL;
  cu_device device = 0;
  cu_result result = cuda->get_current(&current);
  if (result != CU_SUCCESS) {
    return dds_cuda_failed(cuda, "cuCtxGetCurrent", result, reason);
  }
  if (current == NULL || current == cuda->context) {
    return 0;
  }
  if ((result = cuda->get_current_device(&device)) != CU_SUCCESS) {
    return dds_cuda_failed(cuda, "cuCtxGetDevice", result, reason);
  }
  if (device == cuda->device) {
    snprintf(reason, DDS_CUDA_REASON_BYTES,
             "the current CUDA context of device %d is not its primary context: use cuDevicePrimaryCtxRetain",
             cuda->ordinal);
    return -1;
  }
  return 0;
}

int dds_cuda_stream_open(const char *library, int device, struct dds_cuda_stream **opened,
                         char reason[DDS_CUDA_REASON_BYTES]) {
  struct dds_cuda_stream *opening = calloc(1, sizeof *opening);
  int result = -1;
  if (opening == NULL) {
    snprintf(reason, DDS_CUDA_REASON_BYTES, "out of memory");
    goto out;
  }
  if ((result = dds_cuda_open(library, device, &opening->cuda, reason)) != 0) {
    goto out;
  }
  if ((result = check_current(opening->cuda, reason)) != 0) {
    goto out;
  }
  if ((result = create(opening)) != 0) {
    dds_cuda_failed(opening->cuda, "cuStreamCreate", result, reason);
    goto out;
  }
  *opened = opening;
  opening = NULL;
out:
  if (opening != NULL) {
    dds_cuda_close(opening->cuda);
  }
  free(opening);
  return result;
}

int dds_cuda_allocate(struct dds_cuda_stream *stream, size_t bytes, cu_address *address) {
  IN_CONTEXT(stream, memory_allocate(address, bytes));
}

int dds_cuda_free(struct dds_cuda_stream *stream, cu_address address) {
  IN_CONTEXT(stream, memory_free(address));
}

int dds_cuda_event_create(struct dds_cuda_stream *stream, cu_event *event) {
  IN_CONTEXT(stream, event_create(event, CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING));
}

int dds_cuda_event_destroy(struct dds_cuda_stream *stream, cu_event event) {
  IN_CONTEXT(stream, event_destroy(event));
}

int dds_cuda_copy_in(struct dds_cuda_stream *stream, cu_address target, const void *source, size_t bytes) {
  IN_CONTEXT(stream, copy_in(target, source, bytes, stream->stream));
}

int dds_cuda_copy_out(struct dds_cuda_stream *stream, void *target, cu_address source, size_t bytes) {
  IN_CONTEXT(stream, copy_out(target, source, bytes, stream->stream));
}

int dds_cuda_copy_within(struct dds_cuda_stream *stream, cu_address target, cu_address source, size_t bytes,
                         cu_stream consumer) {
  IN_CONTEXT(stream, copy_within(target, source, bytes, consumer));
}

int dds_cuda_record(struct dds_cuda_stream *stream, cu_event event) {
  return dds_cuda_record_on(stream, event, stream->stream);
}

int dds_cuda_record_on(struct dds_cuda_stream *stream, cu_event event, cu_stream consumer) {
  IN_CONTEXT(stream, event_record(event, consumer));
}

int dds_cuda_await(struct dds_cuda_stream *stream, cu_event event) {
  return dds_cuda_await_on(stream, event, stream->stream);
}

int dds_cuda_await_on(struct dds_cuda_stream *stream, cu_event event, cu_stream consumer) {
  IN_CONTEXT(stream, stream_wait_event(consumer, event, 0));
}

static int query(struct dds_cuda_stream *stream, cu_event event) {
  IN_CONTEXT(stream, event_query(event));
}

int dds_cuda_query(struct dds_cuda_stream *stream, cu_event event, int *done) {
  int result = query(stream, event);
  *done = result == CU_SUCCESS;
  return result == CU_NOT_READY ? CU_SUCCESS : result;
}

int dds_cuda_event_wait(struct dds_cuda_stream *stream, cu_event event) {
  IN_CONTEXT(stream, event_synchronize(event));
}

int dds_cuda_stream_wait(struct dds_cuda_stream *stream) {
  IN_CONTEXT(stream, stream_synchronize(stream->stream));
}

cu_stream dds_cuda_stream_handle(const struct dds_cuda_stream *stream) {
  return stream->stream;
}

const char *dds_cuda_stream_error(const struct dds_cuda_stream *stream, int code) {
  return dds_cuda_error_name(stream->cuda, code);
}

static int destroy(struct dds_cuda_stream *stream) {
  IN_CONTEXT(stream, stream_destroy(stream->stream));
}

int dds_cuda_stream_close(struct dds_cuda_stream *stream) {
  int result = 0;
  if (stream != NULL) {
    result = destroy(stream);
    dds_cuda_close(stream->cuda);
    free(stream);
  }
  return result;
}
