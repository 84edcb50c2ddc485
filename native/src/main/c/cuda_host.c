// SPDX-License-Identifier: Apache-2.0
/* Names, types and numbers follow the CUDA driver API, cuda.h of release 12. */
#include "cuda_host.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef int cu_result;
typedef int cu_device;
typedef void *cu_context;

enum { CU_SUCCESS = 0, CU_MEMHOSTREGISTER_PORTABLE = 1 };

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
  cu_result (*host_register)(void *address, size_t bytes, unsigned flags);
  cu_result (*host_unregister)(void *address);
};

/* Writes the failed call and its error into reason. Returns the code. */
static int failed(const struct dds_cuda *cuda, const char *call, cu_result code, char *reason) {
  const char *name = NULL;
  if (cuda->get_error_name == NULL || cuda->get_error_name(code, &name) != CU_SUCCESS || name == NULL) {
    name = "unknown error";
  }
  snprintf(reason, DDS_CUDA_REASON_BYTES, "%s: %s (%d)", call, name, code);
  return code;
}

/* A function of the driver. */
struct symbol {
  const char *name;
  const char *older; /* its name in drivers before release 11, or NULL */
  size_t offset;
};

#define MEMBER(name) offsetof(struct dds_cuda, name)

/* cuda.h maps some names to names with _v2, which the library exports. */
static const struct symbol symbols[] = {
    {"cuInit", NULL, MEMBER(init)},
    {"cuDriverGetVersion", NULL, MEMBER(driver_get_version)},
    {"cuGetErrorName", NULL, MEMBER(get_error_name)},
    {"cuDeviceGetCount", NULL, MEMBER(device_get_count)},
    {"cuDeviceGet", NULL, MEMBER(device_get)},
    {"cuDevicePrimaryCtxRetain", NULL, MEMBER(primary_retain)},
    {"cuDevicePrimaryCtxRelease_v2", "cuDevicePrimaryCtxRelease", MEMBER(primary_release)},
    {"cuCtxPushCurrent_v2", NULL, MEMBER(push_current)},
    {"cuCtxPopCurrent_v2", NULL, MEMBER(pop_current)},
    {"cuMemHostRegister_v2", "cuMemHostRegister", MEMBER(host_register)},
    {"cuMemHostUnregister", NULL, MEMBER(host_unregister)},
};

static int find_symbols(struct dds_cuda *cuda, char *reason) {
  for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
    void *found = dlsym(cuda->library, symbols[i].name);
    if (found == NULL && symbols[i].older != NULL) {
      found = dlsym(cuda->library, symbols[i].older);
    }
    if (found == NULL) {
      snprintf(reason, DDS_CUDA_REASON_BYTES, "the driver has no %s", symbols[i].name);
      return -1;
    }
    *(void **)((char *)cuda + symbols[i].offset) = found; /* assigned as in dlsym(3) */
  }
  return 0;
}

/* Opens the library and counts its devices; the caller closes it, also after an error. */
static int start(struct dds_cuda *cuda, const char *library, int *devices, char *reason) {
  int result;
  cuda->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (cuda->library == NULL) {
    const char *text = dlerror();
    snprintf(reason, DDS_CUDA_REASON_BYTES, "no CUDA driver: %s", text == NULL ? library : text);
    return -1;
  }
  if (find_symbols(cuda, reason) != 0) {
    return -1;
  }
  if ((result = cuda->init(0)) != CU_SUCCESS) {
    return failed(cuda, "cuInit", result, reason);
  }
  if ((result = cuda->device_get_count(devices)) != CU_SUCCESS) {
    return failed(cuda, "cuDeviceGetCount", result, reason);
  }
  if (*devices < 1) {
    snprintf(reason, DDS_CUDA_REASON_BYTES, "the CUDA driver has no device");
    return -1;
  }
  return 0;
}

int dds_cuda_probe(const char *library, int *driver_version, char reason[DDS_CUDA_REASON_BYTES]) {
  struct dds_cuda cuda = {0};
  int devices = 0;
  int result = start(&cuda, library, &devices, reason);
  if (result == 0 && (result = cuda.driver_get_version(driver_version)) != CU_SUCCESS) {
    failed(&cuda, "cuDriverGetVersion", result, reason);
  }
  return result;
}

int dds_cuda_open(const char *library, int device, struct dds_cuda **opened, char reason[DDS_CUDA_REASON_BYTES]) {
  int devices = 0;
  int result = -1;
  struct dds_cuda *cuda = calloc(1, sizeof *cuda);
  if (cuda == NULL) {
    snprintf(reason, DDS_CUDA_REASON_BYTES, "out of memory");
    goto out;
  }
  if ((result = start(cuda, library, &devices, reason)) != 0) {
    goto out;
  }
  cuda->ordinal = device >= 0 && device < devices ? device : 0;
  result = cuda->device_get(&cuda->device, cuda->ordinal);
  if (result != CU_SUCCESS) {
    failed(cuda, "cuDeviceGet", result, reason);
    goto out;
  }
  result = cuda->primary_retain(&cuda->context, cuda->device);
  if (result != CU_SUCCESS) {
    failed(cuda, "cuDevicePrimaryCtxRetain", result, reason);
    goto out;
  }
  *opened = cuda;
  cuda = NULL;
out:
  free(cuda);
  return result;
}

int dds_cuda_device(const struct dds_cuda *cuda) {
  return cuda->ordinal;
}

/* Restores the previous context of the calling thread. */
static void pop(struct dds_cuda *cuda) {
  cu_context ours;
  cuda->pop_current(&ours);
}

int dds_cuda_register(struct dds_cuda *cuda, void *address, size_t bytes, char reason[DDS_CUDA_REASON_BYTES]) {
  cu_result result = cuda->push_current(cuda->context);
  if (result != CU_SUCCESS) {
    return failed(cuda, "cuCtxPushCurrent", result, reason);
  }
  result = cuda->host_register(address, bytes, CU_MEMHOSTREGISTER_PORTABLE);
  if (result != CU_SUCCESS) {
    failed(cuda, "cuMemHostRegister", result, reason);
  }
  pop(cuda);
  return result;
}

int dds_cuda_unregister(struct dds_cuda *cuda, void *address, char reason[DDS_CUDA_REASON_BYTES]) {
  cu_result result = cuda->push_current(cuda->context);
  if (result != CU_SUCCESS) {
    return failed(cuda, "cuCtxPushCurrent", result, reason);
  }
  result = cuda->host_unregister(address);
  if (result != CU_SUCCESS) {
    failed(cuda, "cuMemHostUnregister", result, reason);
  }
  pop(cuda);
  return result;
}

void dds_cuda_close(struct dds_cuda *cuda) {
  if (cuda != NULL) {
    cuda->primary_release(cuda->device);
    free(cuda);
  }
}
