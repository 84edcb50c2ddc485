// SPDX-License-Identifier: Apache-2.0
/*
 * A CUDA driver without a device, for tests: it counts contexts and registered memory, and checks
 * that calls obey the driver API. FAKE_CUDA_FAIL names a call that fails; FAKE_CUDA_DEVICES is the
 * number of devices, 2 by default.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))

enum {
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  NO_DEVICE = 100,
  INVALID_CONTEXT = 201,
  ALREADY_REGISTERED = 712,
  NOT_REGISTERED = 713
};
enum { MOST = 256, PAGE = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int initialised;
static int retained[64];
static struct {
  char *address;
  size_t bytes;
} registered[MOST];
static _Thread_local void *current[8];
static _Thread_local int depth;

static int fails(const char *call) {
  const char *named = getenv("FAKE_CUDA_FAIL");
  return named != NULL && strcmp(named, call) == 0;
}

/* Registered bytes and retained contexts, read by tests. */
API size_t fake_cuda_bytes(void);
API int fake_cuda_contexts(void);
API int fake_cuda_depth(void);

size_t fake_cuda_bytes(void) {
  size_t bytes = 0;
  for (int i = 0; i < MOST; i++) {
    bytes += registered[i].bytes;
  }
  return bytes;
}

int fake_cuda_contexts(void) {
  int count = 0;
  for (int i = 0; i < 64; i++) {
    count += retained[i];
  }
  return count;
}

int fake_cuda_depth(void) {
  return depth;
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
  switch (code) {
    case OUT_OF_MEMORY:
      *name = "CUDA_ERROR_OUT_OF_MEMORY";
      return 0;
    case NO_DEVICE:
      *name = "CUDA_ERROR_NO_DEVICE";
      return 0;
    case INVALID_CONTEXT:
      *name = "CUDA_ERROR_INVALID_CONTEXT";
      return 0;
    case ALREADY_REGISTERED:
      *name = "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED";
      return 0;
    case NOT_REGISTERED:
      *name = "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED";
      return 0;
    default:
      return INVALID_VALUE;
  }
}

API int cuDeviceGetCount(int *count) {
  const char *devices = getenv("FAKE_CUDA_DEVICES");
  *count = devices == NULL ? 2 : atoi(devices);
  return initialised ? 0 : INVALID_VALUE;
}

API int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal + 10; /* a handle differs from its ordinal */
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
  if (context == NULL || *(int *)context < 1 || depth == 8) {
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
  return result;
}
