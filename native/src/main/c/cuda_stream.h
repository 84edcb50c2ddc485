// SPDX-License-Identifier: Apache-2.0
/*
 * Memory of a device, and a stream of copies to it. All functions take the stream of copies from any
 * thread, and return 0 or the number of a CUDA error. A consumer is the stream (CUstream) of another
 * part of the program; NULL is the default stream.
 */
#ifndef DDS_CUDA_STREAM_H
#define DDS_CUDA_STREAM_H

#include "cuda_driver.h"

struct dds_cuda_stream;

/*
 * Opens a stream in the primary context of a device. The caller closes it. Fails if the calling
 * thread has another context of the same device as its current one, which could not use the memory.
 */
int dds_cuda_stream_open(const char *library, int device, struct dds_cuda_stream **opened,
                         char reason[DDS_CUDA_REASON_BYTES]);

/* Allocates memory of the device, aligned to 256 bytes or more. */
int dds_cuda_allocate(struct dds_cuda_stream *stream, size_t bytes, cu_address *address);

int dds_cuda_free(struct dds_cuda_stream *stream, cu_address address);

/* Creates an event without timing, whose waits do not spin. */
int dds_cuda_event_create(struct dds_cuda_stream *stream, cu_event *event);

int dds_cuda_event_destroy(struct dds_cuda_stream *stream, cu_event event);

/* Queue a copy; source and target stay valid until it is done. */
int dds_cuda_copy_in(struct dds_cuda_stream *stream, cu_address target, const void *source, size_t bytes);

int dds_cuda_copy_out(struct dds_cuda_stream *stream, void *target, cu_address source, size_t bytes);

/* Queues a copy inside of the device on a consumer's stream. */
int dds_cuda_copy_within(struct dds_cuda_stream *stream, cu_address target, cu_address source, size_t bytes,
                         cu_stream consumer);

/* Records an event after everything queued so far: on the stream of copies, or on a consumer's. */
int dds_cuda_record(struct dds_cuda_stream *stream, cu_event event);

int dds_cuda_record_on(struct dds_cuda_stream *stream, cu_event event, cu_stream consumer);

/* Queues a wait for the last record of an event: on the stream of copies, or on a consumer's. */
int dds_cuda_await(struct dds_cuda_stream *stream, cu_event event);

int dds_cuda_await_on(struct dds_cuda_stream *stream, cu_event event, cu_stream consumer);

/* Sets done to whether the last record of an event is complete. Does not wait. */
int dds_cuda_query(struct dds_cuda_stream *stream, cu_event event, int *done);

/* Waits for the last record of an event. */
int dds_cuda_event_wait(struct dds_cuda_stream *stream, cu_event event);

/* Waits for everything queued on the stream of copies. */
int dds_cuda_stream_wait(struct dds_cuda_stream *stream);

/* Returns the CUstream. */
cu_stream dds_cuda_stream_handle(const struct dds_cuda_stream *stream);

const char *dds_cuda_stream_error(const struct dds_cuda_stream *stream, int code);

/* Destroys the stream and releases the context; everything queued must be complete. NULL is allowed. */
int dds_cuda_stream_close(struct dds_cuda_stream *stream);

#endif
