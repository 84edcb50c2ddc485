// SPDX-License-Identifier: Apache-2.0
/*
 * A CUDA driver without a device, for tests: it counts what it was given, and checks that calls obey
 * the driver API. Memory of the device is memory of this process.
 *
 * Streams complete as late as possible: a queued copy runs only when something waits for it, and then
 * reads and writes what is in memory at that time. So a program that reuses memory too early fails
 * each time. A copy whose memory was freed, or unpinned, before it ran is counted as a violation.
 *
 * FAKE_CUDA_FAIL names a call that fails; FAKE_CUDA_DEVICES is the number of devices, 2 by default.
 * Java sets both by the functions at the end.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))

enum {
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  NO_DEVICE = 100,
  INVALID_CONTEXT = 201,
  INVALID_HANDLE = 400,
  NOT_READY = 600,
  ILLEGAL_ADDRESS = 700,
  ALREADY_REGISTERED = 712,
  NOT_REGISTERED = 713
};
enum { MOST = 256, PAGE = 4096, FIRST_DEVICE = 10, DEVICES = 64, DEEPEST = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int initialised;
static int retained[DEVICES];
static int foreign[DEVICES]; /* contexts that are not primary */
static struct range {
  char *address;
  size_t bytes;
} registered[MOST], allocated[MOST];
static _Thread_local void *current[DEEPEST];
static _Thread_local int depth;

/* Something queued: a copy, or a wait for the first until operations of another stream. */
struct operation {
  char *target; /* NULL: a wait, or a mark that an event was recorded */
  const char *source;
  char *staged; /* copy of a source that is not pinned, as the driver makes it */
  size_t bytes;
  struct stream *other;
  size_t until;
};

struct stream {
  struct stream *next;
  struct operation *queue;
  size_t queued;
  size_t done;
};

struct event {
  struct event *next;
  struct stream *stream; /* of the last record, or NULL */
  size_t until;
};

static struct stream default_stream;
static struct stream *streams;
static struct event *events;

/* The counts that tests query by number. */
enum {
  CONTEXTS,
  REGISTERED_BYTES,
  ALLOCATIONS,
  EVENTS,
  STREAMS,
  VIOLATIONS,
  PINNED_COPIES,
  PAGEABLE_COPIES,
  DEPTH,
  STREAM_WAITS
};
static long long violations, pinned_copies, pageable_copies, stream_waits;

/* Calls that Java can let fail, by number; the first is none. */
static const char *const calls[] = {"",
                                    "cuInit",
                                    "cuDevicePrimaryCtxRetain",
                                    "cuMemHostRegister",
                                    "cuMemAlloc",
                                    "cuMemFree",
                                    "cuMemcpyHtoDAsync",
                                    "cuStreamCreate",
                                    "cuStreamSynchronize",
                                    "cuStreamWaitEvent",
                                    "cuEventCreate",
                                    "cuEventRecord",
                                    "cuEventSynchronize"};
static int failing_call;
static int successes_before;
static int devices_set;

static int fails(const char *call) {
  const char *named = getenv("FAKE_CUDA_FAIL");
  if (named != NULL && strcmp(named, call) == 0) {
    return 1;
  }
  if (failing_call == 0 || strcmp(calls[failing_call], call) != 0) {
    return 0;
  }
  return successes_before-- <= 0;
}

/* Registered bytes and retained contexts, read by tests. */
API size_t fake_cuda_bytes(void);
API int fake_cuda_contexts(void);
API int fake_cuda_depth(void);
API long long fake_cuda_count(int what);
API void fake_cuda_current(int ordinal, int primary);

size_t fake_cuda_bytes(void) {
  size_t bytes = 0;
  for (int i = 0; i < MOST; i++) {
    bytes += registered[i].bytes;
  }
  return bytes;
}

int fake_cuda_contexts(void) {
  int count = 0;
  for (int i = 0; i < DEVICES; i++) {
    count += retained[i];
  }
  return count;
}

int fake_cuda_depth(void) {
  return depth;
}

static long long counted(int what) {
  long long count = 0;
  switch (what) {
    case CONTEXTS:
      return fake_cuda_contexts();
    case REGISTERED_BYTES:
      return (long long)fake_cuda_bytes();
    case ALLOCATIONS:
      for (int i = 0; i < MOST; i++) {
        count += allocated[i].address != NULL;
      }
      return count;
    case EVENTS:
      for (struct event *event = events; event != NULL; event = event->next) {
        count++;
      }
      return count;
    case STREAMS:
      for (struct stream *stream = streams; stream != NULL; stream = stream->next) {
        count++;
      }
      return count;
    case VIOLATIONS:
      return violations;
    case PINNED_COPIES:
      return pinned_copies;
    case PAGEABLE_COPIES:
      return pageable_copies;
    case STREAM_WAITS:
      return stream_waits;
    default:
      return depth;
  }
}

long long fake_cuda_count(int what) {
  pthread_mutex_lock(&lock);
  long long count = counted(what);
  pthread_mutex_unlock(&lock);
  return count;
}

/* Makes a context of a device the only one of this thread; none if ordinal is below 0. */
void fake_cuda_current(int ordinal, int primary) {
  depth = 0;
  if (ordinal >= 0) {
    foreign[ordinal + FIRST_DEVICE] = 1;
    current[depth++] = primary ? &retained[ordinal + FIRST_DEVICE] : &foreign[ordinal + FIRST_DEVICE];
  }
}

API int cuInit(unsigned flags) {
  if (fails("cuInit")) {
    return NO_DEVICE;
  }
  initialised = 1;
  return flags == 0 ? 0 : INVALID_VALUE;
}

API int cuDriverGetVersion(int *version) {
  *version = 12040;
  return 0;
}

API int cuGetErrorName(int code, const char **name) {
  static const struct {
    int code;
    const char *name;
  } names[] = {{OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
               {NO_DEVICE, "CUDA_ERROR_NO_DEVICE"},
               {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"},
               {INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE"},
               {ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"},
               {ALREADY_REGISTERED, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED"},
               {NOT_REGISTERED, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED"}};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (names[i].code == code) {
      *name = names[i].name;
      return 0;
    }
  }
  return INVALID_VALUE;
}

API int cuDeviceGetCount(int *count) {
  const char *devices = getenv("FAKE_CUDA_DEVICES");
  *count = devices != NULL ? atoi(devices) : devices_set > 0 ? devices_set : 2;
  return initialised ? 0 : INVALID_VALUE;
}

API int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal + FIRST_DEVICE; /* a handle differs from its ordinal */
  return 0;
}

API int cuDevicePrimaryCtxRetain(void **context, int device) {
  if (fails("cuDevicePrimaryCtxRetain")) {
    return OUT_OF_MEMORY;
  }
  pthread_mutex_lock(&lock);
  retained[device]++;
  pthread_mutex_unlock(&lock);
  *context = &retained[device];
  return 0;
}

API int cuDevicePrimaryCtxRelease_v2(int device) {
  pthread_mutex_lock(&lock);
  int result = retained[device]-- > 0 ? 0 : INVALID_CONTEXT;
  pthread_mutex_unlock(&lock);
  return result;
}

API int cuCtxPushCurrent_v2(void *context) {
  if (context == NULL || *(int *)context < 1 || depth == DEEPEST) {
    return INVALID_CONTEXT;
  }
  current[depth++] = context;
  return 0;
}

API int cuCtxPopCurrent_v2(void **context) {
  if (depth == 0) {
    return INVALID_CONTEXT;
  }
  *context = current[--depth];
  return 0;
}

API int cuCtxGetCurrent(void **context) {
  *context = depth == 0 ? NULL : current[depth - 1];
  return initialised ? 0 : INVALID_VALUE;
}

API int cuCtxGetDevice(int *device) {
  if (depth == 0) {
    return INVALID_CONTEXT;
  }
  uintptr_t context = (uintptr_t)current[depth - 1];
  uintptr_t first = (uintptr_t)retained;
  int isPrimary = context >= first && context < first + sizeof retained;
  *device = (int)((context - (isPrimary ? first : (uintptr_t)foreign)) / sizeof(int));
  return 0;
}

/* Rejects ranges that share a page with a registered one. */
API int cuMemHostRegister_v2(void *address, size_t bytes, unsigned flags) {
  int result = OUT_OF_MEMORY;
  char *from = address;
  if (fails("cuMemHostRegister")) {
    return OUT_OF_MEMORY;
  }
  if (depth == 0) {
    return INVALID_CONTEXT;
  }
  if (flags != 1 || bytes == 0 || (size_t)from % PAGE != 0 || bytes % PAGE != 0) {
    return INVALID_VALUE;
  }
  pthread_mutex_lock(&lock);
  for (int i = 0; i < MOST; i++) {
    if (registered[i].bytes > 0 && from < registered[i].address + registered[i].bytes &&
        registered[i].address < from + bytes) {
      result = ALREADY_REGISTERED;
      goto out;
    }
  }
  for (int i = 0; i < MOST; i++) {
    if (registered[i].bytes == 0) {
      registered[i].address = from;
      registered[i].bytes = bytes;
      result = 0;
      goto out;
    }
  }
out:
  pthread_mutex_unlock(&lock);
  return result;
}

API int cuMemHostUnregister(void *address) {
  int result = NOT_REGISTERED;
  if (depth == 0) {
    return INVALID_CONTEXT;
  }
  pthread_mutex_lock(&lock);
  for (int i = 0; i < MOST; i++) {
    if (registered[i].bytes > 0 && registered[i].address == address) {
      registered[i].bytes = 0;
      result = 0;
    }
  }
  pthread_mutex_unlock(&lock);
  return result; /* a queued copy from this memory is counted as a violation when it runs */
}

/* Returns whether a live range of a table holds all of these bytes. */
static int holds(const struct range *table, const char *from, size_t bytes) {
  for (int i = 0; i < MOST; i++) {
    uintptr_t start = (uintptr_t)table[i].address;
    if (table[i].bytes > 0 && (uintptr_t)from >= start && (uintptr_t)from + bytes <= start + table[i].bytes) {
      return 1;
    }
  }
  return 0;
}

API int cuMemAlloc_v2(uint64_t *address, size_t bytes) {
  int result = OUT_OF_MEMORY;
  if (fails("cuMemAlloc")) {
    return OUT_OF_MEMORY;
  }
  if (depth == 0) {
    return INVALID_CONTEXT;
  }
  if (bytes == 0) {
    return INVALID_VALUE;
  }
  pthread_mutex_lock(&lock);
  for (int i = 0; i < MOST && result != 0; i++) {
    if (allocated[i].address == NULL && (allocated[i].address = malloc(bytes)) != NULL) {
      allocated[i].bytes = bytes;
      memset(allocated[i].address, 0xAA, bytes);
      *address = (uint64_t)(uintptr_t)allocated[i].address;
      result = 0;
    }
  }
  pthread_mutex_unlock(&lock);
  return result;
}

API int cuMemFree_v2(uint64_t address) {
  int result = INVALID_VALUE;
  if (fails("cuMemFree")) {
    return ILLEGAL_ADDRESS;
  }
  if (depth == 0) {
    return INVALID_CONTEXT;
  }
  pthread_mutex_lock(&lock);
  for (int i = 0; i < MOST; i++) {
    if (allocated[i].address != NULL && (uint64_t)(uintptr_t)allocated[i].address == address) {
      free(allocated[i].address);
      allocated[i].address = NULL;
      allocated[i].bytes = 0;
      result = 0;
    }
  }
  pthread_mutex_unlock(&lock);
  return result;
}

/* Returns the stream of a handle, or NULL. Holds the lock. */
static struct stream *stream_of(void *handle) {
  if (handle == NULL) {
    return &default_stream;
  }
  for (struct stream *stream = streams; stream != NULL; stream = stream->next) {
    if (stream == handle) {
      return stream;
    }
  }
  return NULL;
}

static struct event *event_of(void *handle) {
  for (struct event *event = events; event != NULL; event = event->next) {
    if (event == handle) {
      return event;
    }
  }
  return NULL;
}

static void queue(struct stream *stream, struct operation operation) {
  struct operation *more = realloc(stream->queue, (stream->queued + 1) * sizeof *more);
  if (more == NULL) {
    abort();
  }
  stream->queue = more;
  stream->queue[stream->queued++] = operation;
}

static int in_process(const struct operation *operation) {
  int into = holds(allocated, operation->target, operation->bytes);
  int from = holds(allocated, operation->source, operation->bytes);
  if (operation->staged != NULL) {
    return into;
  }
  return into ? from || holds(registered, operation->source, operation->bytes) : from;
}

/* Runs the first operations of a stream that have not run. Holds the lock. */
static void run(struct stream *stream, size_t until) {
  while (stream->done < until) {
    struct operation *operation = &stream->queue[stream->done];
    if (operation->other != NULL) {
      run(operation->other, operation->until);
    } else if (operation->target != NULL && in_process(operation)) {
      memcpy(operation->target, operation->staged != NULL ? operation->staged : operation->source, operation->bytes);
    } else if (operation->target != NULL) {
      violations++;
    }
    free(operation->staged);
    operation->staged = NULL;
    stream->done++;
  }
}

API int cuStreamCreate(void **created, unsigned flags) {
  if (fails("cuStreamCreate")) {
    return OUT_OF_MEMORY;
  }
  if (depth == 0) {
    return INVALID_CONTEXT;
  }
  struct stream *stream = calloc(1, sizeof *stream);
  if (stream == NULL || flags != 1) {
    free(stream);
    return INVALID_VALUE;
  }
  pthread_mutex_lock(&lock);
  stream->next = streams;
  streams = stream;
  pthread_mutex_unlock(&lock);
  *created = stream;
  return 0;
}

API int cuStreamDestroy_v2(void *handle) {
  int result = INVALID_HANDLE;
  pthread_mutex_lock(&lock);
  for (struct stream **at = &streams; *at != NULL; at = &(*at)->next) {
    struct stream *stream = *at;
    if (stream == handle) {
      run(stream, stream->queued);
      for (struct event *event = events; event != NULL; event = event->next) {
        event->stream = event->stream == stream ? NULL : event->stream;
      }
      *at = stream->next;
      free(stream->queue);
      free(stream);
      result = 0;
      break;
    }
  }
  pthread_mutex_unlock(&lock);
  return result;
}

API int cuStreamSynchronize(void *handle) {
  if (fails("cuStreamSynchronize")) {
    return ILLEGAL_ADDRESS;
  }
  pthread_mutex_lock(&lock);
  struct stream *stream = stream_of(handle);
  if (stream != NULL) {
    run(stream, stream->queued);
  }
  pthread_mutex_unlock(&lock);
  return stream == NULL ? INVALID_HANDLE : 0;
}

API int cuStreamWaitEvent(void *handle, void *waited, unsigned flags) {
  int result = INVALID_HANDLE;
  if (fails("cuStreamWaitEvent")) {
    return ILLEGAL_ADDRESS;
  }
  pthread_mutex_lock(&lock);
  struct stream *stream = stream_of(handle);
  struct event *event = event_of(waited);
  if (stream != NULL && event != NULL && flags == 0) {
    stream_waits++;
    if (event->stream != NULL && event->stream != stream) {
      queue(stream, (struct operation){.other = event->stream, .until = event->until});
    }
    result = 0;
  }
  pthread_mutex_unlock(&lock);
  return result;
}

API int cuEventCreate(void **created, unsigned flags) {
  if (fails("cuEventCreate")) {
    return OUT_OF_MEMORY;
  }
  struct event *event = calloc(1, sizeof *event);
  if (event == NULL || flags != 3) {
    free(event);
    return INVALID_VALUE;
  }
  pthread_mutex_lock(&lock);
  event->next = events;
  events = event;
  pthread_mutex_unlock(&lock);
  *created = event;
  return 0;
}

API int cuEventDestroy_v2(void *handle) {
  int result = INVALID_HANDLE;
  pthread_mutex_lock(&lock);
  for (struct event **at = &events; *at != NULL; at = &(*at)->next) {
    struct event *event = *at;
    if (event == handle) {
      *at = event->next;
      free(event);
      result = 0;
      break;
    }
  }
  pthread_mutex_unlock(&lock);
  return result;
}

API int cuEventRecord(void *recorded, void *handle) {
  int result = INVALID_HANDLE;
  if (fails("cuEventRecord")) {
    return ILLEGAL_ADDRESS;
  }
  pthread_mutex_lock(&lock);
  struct stream *stream = stream_of(handle);
  struct event *event = event_of(recorded);
  if (stream != NULL && event != NULL) {
    event->stream = stream;
    event->until = stream->queued;
    result = 0;
  }
  pthread_mutex_unlock(&lock);
  return result;
}

API int cuEventQuery(void *handle) {
  pthread_mutex_lock(&lock);
  struct event *event = event_of(handle);
  int done = event != NULL && (event->stream == NULL || event->stream->done >= event->until);
  pthread_mutex_unlock(&lock);
  return event == NULL ? INVALID_HANDLE : done ? 0 : NOT_READY;
}

API int cuEventSynchronize(void *handle) {
  if (fails("cuEventSynchronize")) {
    return ILLEGAL_ADDRESS;
  }
  pthread_mutex_lock(&lock);
  struct event *event = event_of(handle);
  if (event != NULL && event->stream != NULL) {
    run(event->stream, event->until);
  }
  pthread_mutex_unlock(&lock);
  return event == NULL ? INVALID_HANDLE : 0;
}

/* Queues a copy; one of its ends at least is memory of the device. */
static int copy(char *target, const char *source, size_t bytes, void *handle, int is_in) {
  int result = INVALID_HANDLE;
  struct operation operation = {.target = target, .source = source, .bytes = bytes};
  if (depth == 0) {
    return INVALID_CONTEXT;
  }
  pthread_mutex_lock(&lock);
  struct stream *stream = stream_of(handle);
  if (stream == NULL) {
    goto out;
  }
  result = INVALID_VALUE;
  if (!holds(allocated, is_in ? target : source, bytes)) {
    goto out;
  }
  result = 0;
  int isPinned = holds(registered, is_in ? source : target, bytes);
  if (is_in && !isPinned) {
    if ((operation.staged = malloc(bytes)) == NULL) {
      abort();
    }
    memcpy(operation.staged, source, bytes);
  }
  pinned_copies += is_in && isPinned;
  pageable_copies += is_in && !isPinned;
  queue(stream, operation);
  if (!is_in && !isPinned && !holds(allocated, target, bytes)) {
    run(stream, stream->queued); /* a copy to memory that is not pinned blocks */
  }
out:
  pthread_mutex_unlock(&lock);
  return result;
}

API int cuMemcpyHtoDAsync_v2(uint64_t target, const void *source, size_t bytes, void *stream) {
  return fails("cuMemcpyHtoDAsync") ? ILLEGAL_ADDRESS : copy((char *)(uintptr_t)target, source, bytes, stream, 1);
}

API int cuMemcpyDtoHAsync_v2(void *target, uint64_t source, size_t bytes, void *stream) {
  return copy(target, (const char *)(uintptr_t)source, bytes, stream, 0);
}

API int cuMemcpyDtoDAsync_v2(uint64_t target, uint64_t source, size_t bytes, void *stream) {
  return copy((char *)(uintptr_t)target, (const char *)(uintptr_t)source, bytes, stream, 0);
}

/* Functions of org.ddstore.nativeio.FakeCuda; jint is int, jlong long long. */
API long long Java_org_ddstore_nativeio_FakeCuda_count(void *env, void *type, int what) {
  (void)env;
  (void)type;
  return fake_cuda_count(what);
}

/* Lets a call fail after some that succeed; none if call is 0. */
API void Java_org_ddstore_nativeio_FakeCuda_fail(void *env, void *type, int call, int after) {
  (void)env;
  (void)type;
  failing_call = call;
  successes_before = after;
}

API void Java_org_ddstore_nativeio_FakeCuda_devices(void *env, void *type, int devices) {
  (void)env;
  (void)type;
  devices_set = devices;
}

API void Java_org_ddstore_nativeio_FakeCuda_current(void *env, void *type, int ordinal, int primary) {
  (void)env;
  (void)type;
  fake_cuda_current(ordinal, primary);
}
