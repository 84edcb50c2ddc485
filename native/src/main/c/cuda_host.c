// SPDX-License-Identifier: Apache-2.0
#include "cuda_host.h"

int dds_cuda_register(struct dds_cuda *cuda, void *address, size_t bytes, char reason[DDS_CUDA_REASON_BYTES]) {
  cu_result result = dds_cuda_enter(cuda);
  if (result != CU_SUCCESS) {
    return dds_cuda_failed(cuda, "cuCtxPushCurrent", result, reason);
  }
  result = cuda->host_register(address, bytes, CU_MEMHOSTREGISTER_PORTABLE);
  if (result != CU_SUCCESS) {
    dds_cuda_failed(cuda, "cuMemHostRegister", result, reason);
  }
  dds_cuda_leave(cuda);
  return result;
}

int dds_cuda_unregister(struct dds_cuda *cuda, void *address, char reason[DDS_CUDA_REASON_BYTES]) {
  cu_result result = dds_cuda_enter(cuda);
  if (result != CU_SUCCESS) {
    return dds_cuda_failed(cuda, "cuCtxPushCurrent", result, reason);
  }
  result = cuda->host_unregister(address);
  if (result != CU_SUCCESS) {
    dds_cuda_failed(cuda, "cuMemHostUnregister", result, reason);
  }
  dds_cuda_leave(cuda);
  return result;
}
