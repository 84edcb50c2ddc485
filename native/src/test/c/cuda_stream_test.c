// SPDX-License-Identifier: Apache-2.0
#include "cuda_stream.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cuda_host.h"

enum { PAGE = 4096 };
enum { CONTEXTS, REGISTERED_BYTES, ALLOCATIONS, EVENTS, STREAMS, VIOLATIONS, PINNED_COPIES, PAGEABLE_COPIES, DEPTH };

static long long (*fake_count)(int what);
static void (*fake_current)(int ordinal, int primary);

static void find_fake(void) {
  void *fake = dlopen(FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
  CHECK(fake != NULL);
  *(void **)&fake_count = dlsym(fake, "fake_cuda_count");
  *(void **)&fake_current = dlsym(fake, "fake_cuda_current");
  CHECK(fake_count != NULL && fake_current != NULL);
}

static void check_nothing_left(long long violations) {
  const int all[] = {CONTEXTS, REGISTERED_BYTES, ALLOCATIONS, EVENTS, STREAMS, DEPTH};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    CHECK(fake_count(all[i]) == 0);
  }
  CHECK(fake_count(VIOLATIONS) == violations);
}

static struct dds_cuda_stream *open_stream(void) {
  char reason[DDS_CUDA_REASON_BYTES] = "";
  struct dds_cuda_stream *stream = NULL;
  CHECK(dds_cuda_stream_open(FAKE_CUDA, 1, &stream, reason) == 0);
  CHECK(dds_cuda_stream_handle(stream) != NULL);
  return stream;
}

/* A pinned copy reads its source when it runs, which the fake does only when something waits for it. */
static void events_tell_when_a_copy_is_done(void) {
  char reason[DDS_CUDA_REASON_BYTES] = "";
  struct dds_cuda_stream *stream = open_stream();
  struct dds_cuda *cuda = NULL;
  char *host = aligned_alloc(PAGE, PAGE);
  char back[8];
  cu_address memory = 0;
  cu_event copied = NULL;
  int done = 1;
  CHECK(host != NULL);
  CHECK(dds_cuda_open(FAKE_CUDA, 1, &cuda, reason) == 0);
  CHECK(dds_cuda_register(cuda, host, PAGE, reason) == 0);
  CHECK(dds_cuda_allocate(stream, PAGE, &memory) == 0);
  CHECK(dds_cuda_event_create(stream, &copied) == 0);
  CHECK(dds_cuda_query(stream, copied, &done) == 0 && done);

  memcpy(host, "first  ", 8);
  CHECK(dds_cuda_copy_in(stream, memory, host, 8) == 0);
  CHECK(dds_cuda_record(stream, copied) == 0);
  CHECK(dds_cuda_query(stream, copied, &done) == 0 && !done);
  memcpy(host, "second ", 8); /* too early */
  CHECK(dds_cuda_event_wait(stream, copied) == 0);
  CHECK(dds_cuda_query(stream, copied, &done) == 0 && done);
  CHECK(dds_cuda_copy_out(stream, back, memory, 8) == 0);
  CHECK(strcmp(back, "second ") == 0);
  CHECK(fake_count(PINNED_COPIES) == 1);
  CHECK(fake_count(DEPTH) == 0);

  CHECK(dds_cuda_event_destroy(stream, copied) == 0);
  CHECK(dds_cuda_free(stream, memory) == 0);
  CHECK(dds_cuda_stream_wait(stream) == 0);
  CHECK(dds_cuda_stream_close(stream) == 0);
  CHECK(dds_cuda_unregister(cuda, host, reason) == 0);
  dds_cuda_close(cuda);
  free(host);
  check_nothing_left(0);
}

static void streams_wait_for_each_other(void) {
  struct dds_cuda_stream *copies = open_stream();
  struct dds_cuda_stream *consumer = open_stream();
  cu_stream work = dds_cuda_stream_handle(consumer);
  cu_address memory = 0;
  cu_address result = 0;
  cu_event copied = NULL;
  cu_event used = NULL;
  char back[8];
  CHECK(dds_cuda_allocate(copies, PAGE, &memory) == 0);
  CHECK(dds_cuda_allocate(copies, PAGE, &result) == 0);
  CHECK(dds_cuda_event_create(copies, &copied) == 0);
  CHECK(dds_cuda_event_create(copies, &used) == 0);

  CHECK(dds_cuda_copy_in(copies, memory, "first  ", 8) == 0);
  CHECK(dds_cuda_record(copies, copied) == 0);
  CHECK(dds_cuda_await_on(copies, copied, work) == 0);
  CHECK(dds_cuda_copy_within(copies, result, memory, 8, work) == 0);
  CHECK(dds_cuda_record_on(copies, used, work) == 0);
  CHECK(dds_cuda_await(copies, used) == 0);
  CHECK(dds_cuda_copy_in(copies, memory, "second ", 8) == 0); /* runs after the consumer's copy */
  CHECK(dds_cuda_stream_wait(copies) == 0);
  CHECK(dds_cuda_copy_out(consumer, back, result, 8) == 0);
  CHECK(strcmp(back, "first  ") == 0);
  CHECK(dds_cuda_copy_out(consumer, back, memory, 8) == 0);
  CHECK(strcmp(back, "second ") == 0);

  CHECK(dds_cuda_event_destroy(copies, used) == 0);
  CHECK(dds_cuda_event_destroy(copies, copied) == 0);
  CHECK(dds_cuda_free(copies, result) == 0);
  CHECK(dds_cuda_free(copies, memory) == 0);
  CHECK(dds_cuda_stream_close(consumer) == 0);
  CHECK(dds_cuda_stream_close(copies) == 0);
  check_nothing_left(0);
}

static void memory_freed_too_early_is_a_violation(void) {
  struct dds_cuda_stream *stream = open_stream();
  cu_address memory = 0;
  CHECK(dds_cuda_allocate(stream, PAGE, &memory) == 0);
  CHECK(dds_cuda_copy_in(stream, memory, "value  ", 8) == 0);
  CHECK(dds_cuda_free(stream, memory) == 0);
  CHECK(dds_cuda_stream_close(stream) == 0);
  check_nothing_left(1);
}

static void reports_errors_of_the_driver(void) {
  struct dds_cuda_stream *stream = open_stream();
  cu_address memory = 0;
  setenv("FAKE_CUDA_FAIL", "cuMemAlloc", 1);
  CHECK(dds_cuda_allocate(stream, PAGE, &memory) == 2);
  CHECK(strcmp(dds_cuda_stream_error(stream, 2), "CUDA_ERROR_OUT_OF_MEMORY") == 0);
  CHECK(strcmp(dds_cuda_stream_error(stream, 12345), "unknown error") == 0);
  unsetenv("FAKE_CUDA_FAIL");
  CHECK(dds_cuda_await_on(stream, NULL, NULL) == 400);
  CHECK(dds_cuda_stream_close(stream) == 0);
  CHECK(dds_cuda_stream_close(NULL) == 0);

  char reason[DDS_CUDA_REASON_BYTES] = "";
  stream = NULL;
  setenv("FAKE_CUDA_FAIL", "cuStreamCreate", 1);
  CHECK(dds_cuda_stream_open(FAKE_CUDA, 0, &stream, reason) == 2);
  CHECK(strcmp(reason, "cuStreamCreate: CUDA_ERROR_OUT_OF_MEMORY (2)") == 0);
  unsetenv("FAKE_CUDA_FAIL");
  CHECK(dds_cuda_stream_open(FAKE_CUDA, 2, &stream, reason) == -1);
  CHECK(strcmp(reason, "device 2 outside [0, 2): the CUDA driver has 2 devices") == 0);
  CHECK(stream == NULL);
  check_nothing_left(1);
}

static void refuses_another_context_of_the_device(void) {
  char reason[DDS_CUDA_REASON_BYTES] = "";
  struct dds_cuda_stream *stream = NULL;
  fake_current(1, 0);
  CHECK(dds_cuda_stream_open(FAKE_CUDA, 1, &stream, reason) == -1);
  CHECK(strncmp(reason, "the current CUDA context of device 1 is not its primary context", 63) == 0);
  fake_current(1, 1);
  CHECK(dds_cuda_stream_open(FAKE_CUDA, 1, &stream, reason) == 0);
  CHECK(fake_count(DEPTH) == 1); /* the context of the caller stays */
  CHECK(dds_cuda_stream_close(stream) == 0);
  fake_current(-1, 0);
  check_nothing_left(1);
}

int main(void) {
  find_fake();
  events_tell_when_a_copy_is_done();
  streams_wait_for_each_other();
  memory_freed_too_early_is_a_violation();
  reports_errors_of_the_driver();
  refuses_another_context_of_the_device();
  return 0;
}
