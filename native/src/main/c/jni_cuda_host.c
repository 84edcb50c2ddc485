// SPDX-License-Identifier: Apache-2.0
/* JNI of org.ddstore.nativeio.CudaPinning; a reason is a byte array of DDS_CUDA_REASON_BYTES. */
#include <jni.h>
#include <stdint.h>
#include <string.h>

#include "cuda_host.h"

static void tell(JNIEnv *env, jbyteArray reason, const char *text) {
  jsize length = (*env)->GetArrayLength(env, reason);
  jsize bytes = (jsize)strlen(text);
  (*env)->SetByteArrayRegion(env, reason, 0, bytes < length ? bytes : length, (const jbyte *)text);
}

/* Returns the driver's version, or a negative number and a reason. library ends with a zero. */
JNIEXPORT jint JNICALL Java_org_ddstore_nativeio_CudaPinning_probe(JNIEnv *env, jclass type, jbyteArray library,
                                                                   jbyteArray reason) {
  char text[DDS_CUDA_REASON_BYTES] = "out of memory";
  int version = -1;
  (void)type;
  jbyte *name = (*env)->GetByteArrayElements(env, library, NULL);
  if (name != NULL) {
    if (dds_cuda_probe((const char *)name, &version, text) != 0) {
      version = -1;
    }
    (*env)->ReleaseByteArrayElements(env, library, name, JNI_ABORT);
  }
  if (version < 0) {
    tell(env, reason, text);
  }
  return version;
}

/* Returns a handle, or 0 and a reason. */
JNIEXPORT jlong JNICALL Java_org_ddstore_nativeio_CudaPinning_open(JNIEnv *env, jclass type, jbyteArray library,
                                                                   jint device, jbyteArray reason) {
  char text[DDS_CUDA_REASON_BYTES] = "out of memory";
  struct dds_cuda *cuda = NULL;
  (void)type;
  jbyte *name = (*env)->GetByteArrayElements(env, library, NULL);
  if (name != NULL) {
    dds_cuda_open((const char *)name, device, &cuda, text);
    (*env)->ReleaseByteArrayElements(env, library, name, JNI_ABORT);
  }
  if (cuda == NULL) {
    tell(env, reason, text);
  }
  return (jlong)(intptr_t)cuda;
}

JNIEXPORT jint JNICALL Java_org_ddstore_nativeio_CudaPinning_device(JNIEnv *env, jclass type, jlong handle) {
  (void)env;
  (void)type;
  return dds_cuda_device((struct dds_cuda *)(intptr_t)handle);
}

/* Returns 0, or an error number and a reason. */
JNIEXPORT jint JNICALL Java_org_ddstore_nativeio_CudaPinning_register(JNIEnv *env, jclass type, jlong handle,
                                                                      jobject memory, jbyteArray reason) {
  char text[DDS_CUDA_REASON_BYTES];
  void *address = (*env)->GetDirectBufferAddress(env, memory);
  jlong bytes = (*env)->GetDirectBufferCapacity(env, memory);
  (void)type;
  int result = dds_cuda_register((struct dds_cuda *)(intptr_t)handle, address, (size_t)bytes, text);
  if (result != 0) {
    tell(env, reason, text);
  }
  return result;
}

/* Returns 0, or an error number and a reason. */
JNIEXPORT jint JNICALL Java_org_ddstore_nativeio_CudaPinning_unregister(JNIEnv *env, jclass type, jlong handle,
                                                                        jobject memory, jbyteArray reason) {
  char text[DDS_CUDA_REASON_BYTES];
  (void)type;
  int result =
      dds_cuda_unregister((struct dds_cuda *)(intptr_t)handle, (*env)->GetDirectBufferAddress(env, memory), text);
  if (result != 0) {
    tell(env, reason, text);
  }
  return result;
}

JNIEXPORT void JNICALL Java_org_ddstore_nativeio_CudaPinning_close(JNIEnv *env, jclass type, jlong handle) {
  (void)env;
  (void)type;
  dds_cuda_close((struct dds_cuda *)(intptr_t)handle);
}
