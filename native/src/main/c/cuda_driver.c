// SPDX-License-Identifier: Apache-2.0
#include "cuda_driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

const char *dds_cuda_error_name(const struct dds_cuda *cuda, int code) {
  const char *name = NULL;
  if (cuda->get_error_name == NULL || cuda->get_error_name(code, &name) != CU_SUCCESS || name == NULL) {
    return "unknown error";
  }
  return name;
}

int dds_cuda_failed(const struct dds_cuda *cuda, const char *call, int code, char reason[DDS_CUDA_REASON_BYTES]) {
  snprintf(reason, DDS_CUDA_REASON_BYTES, "%s: %s (%d)", call, dds_cuda_error_name(cuda, code), code);
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
    {"cuCtxGetCurrent", NULL, MEMBER(get_current)},
    {"cuCtxGetDevice", NULL, MEMBER(get_current_device)},
    {"cuMemHostRegister_v2", "cuMemHostRegister", MEMBER(host_register)},
    {"cuMemHostUnregister", NULL, MEMBER(host_unregister)},
    {"cuMemAlloc_v2", NULL, MEMBER(memory_allocate)},
    {"cuMemFree_v2", NULL, MEMBER(memory_free)},
    {"cuMemcpyHtoDAsync_v2", NULL, MEMBER(copy_in)},
    {"cuMemcpyDtoHAsync_v2", NULL, MEMBER(copy_out)},
    {"cuMemcpyDtoDAsync_v2", NULL, MEMBER(copy_within)},
    {"cuStreamCreate", NULL, MEMBER(stream_create)},
    {"cuStreamDestroy_v2", NULL, MEMBER(stream_destroy)},
    {"cuStreamSynchronize", NULL, MEMBER(stream_synchronize)},
    {"cuStreamWaitEvent", NULL, MEMBER(stream_wait_event)},
    {"cuEventCreate", NULL, MEMBER(event_create)},
    {"cuEventDestroy_v2", NULL, MEMBER(event_destroy)},
    {"cuEventRecord", NULL, MEMBER(event_record)},
    {"cuEventQuery", NULL, MEMBER(event_query)},
    {"cuEventSynchronize", NULL, MEMBER(event_synchronize)},
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

/* Opens the library, which stays open, and counts its devices. */
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
    return dds_cuda_failed(cuda, "cuInit", result, reason);
  }
  if ((result = cuda->device_get_count(devices)) != CU_SUCCESS) {
    return dds_cuda_failed(cuda, "cuDeviceGetCount", result, reason);
  }
  if (*devices < 1) {
    snprintf(reason, DDS_CUDA_REASON_BYTES, "the CUDA driver has no device");
    return -1;
  }
  return 0;
}

/* Finds the number of the device of the current context: a device handle is not its number. */
static int find_current(const struct dds_cuda *cuda, struct dds_cuda_facts *facts, char *reason) {
  cu_context context = NULL;
  cu_device device = 0;
  cu_result result;
  facts->current = DDS_CUDA_NO_DEVICE;
  if ((result = cuda->get_current(&context)) != CU_SUCCESS) {
    return dds_cuda_failed(cuda, "cuCtxGetCurrent", result, reason);
  }
  if (context == NULL) {
    return 0;
  }
  if ((result = cuda->get_current_device(&device)) != CU_SUCCESS) {
    return dds_cuda_failed(cuda, "cuCtxGetDevice", result, reason);
  }
  for (int ordinal = 0; ordinal < facts->devices; ordinal++) {
    cu_device candidate = 0;
    if ((result = cuda->device_get(&candidate, ordinal)) != CU_SUCCESS) {
      return dds_cuda_failed(cuda, "cuDeviceGet", result, reason);
    }
    if (candidate == device) {
      facts->current = ordinal;
    }
  }
  return 0;
}

int dds_cuda_probe(const char *library, struct dds_cuda_facts *facts, char reason[DDS_CUDA_REASON_BYTES]) {
  struct dds_cuda cuda = {0};
  int result = start(&cuda, library, &facts->devices, reason);
  if (result != 0) {
    return result;
  }
  if ((result = cuda.driver_get_version(&facts->version)) != CU_SUCCESS) {
    return dds_cuda_failed(&cuda, "cuDriverGetVersion", result, reason);
  }
  return find_current(&cuda, facts, reason);
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
  if (device < 0 || device >= devices) {
    snprintf(reason, DDS_CUDA_REASON_BYTES, "device %d outside [0, %d): the CUDA driver has %d devices", device,
             devices, devices);
    result = -1;
    goto out;
  }
  cuda->ordinal = device;
  result = cuda->device_get(&cuda->device, device);
  if (result != CU_SUCCESS) {
    dds_cuda_failed(cuda, "cuDeviceGet", result, reason);
    goto out;
  }
  result = cuda->primary_retain(&cuda->context, cuda->device);
  if (result != CU_SUCCESS) {
    dds_cuda_failed(cuda, "cuDevicePrimaryCtxRetain", result, reason);
    goto out;
  }
  *opened = cuda;
  cuda = NULL;
out:
  free(cuda);
  return result;
}

void dds_cuda_close(struct dds_cuda *cuda) {
  if (cuda != NULL) {
    cuda->primary_release(cuda->device);
    free(cuda);
  }
}

int dds_cuda_enter(const struct dds_cuda *cuda) {
  return cuda->push_current(cuda->context);
}

void dds_cuda_leave(const struct dds_cuda *cuda) {
  cu_context ours;
  cuda->pop_current(&ours);
}
