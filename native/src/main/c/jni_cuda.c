// SPDX-License-Identifier: Apache-2.0
/*
 * JNI of org.ddstore.nativeio.CudaPinning and CudaStream. library ends with a zero; a reason is a
 * byte array of DDS_CUDA_REASON_BYTES. Handles, addresses of the device, events and streams are
 * numbers of 64 bits.
 */
#include <jni.h>
#include <stdint.h>
#include <string.h>

#include "cuda_host.h"
#include "cuda_stream.h"

static void tell(JNIEnv *env, jbyteArray reason, const char *text) {
  jsize length = (*env)->GetArrayLength(env, reason);
  jsize bytes = (jsize)strlen(text);
  (*env)->SetByteArrayRegion(env, reason, 0, bytes < length ? bytes : length, (const jbyte *)text);
}

/* Returns 0 and the version, the number of devices and the current one, or another number and a reason. */
JNIEXPORT jint JNICALL Java_org_ddstore_nativeio_CudaPinning_probe(JNIEnv *env, jclass type, jbyteArray library,
                                                                   jintArray facts, jbyteArray reason) {
  char text[DDS_CUDA_REASON_BYTES] = "out of memory";
  struct dds_cuda_facts found = {0};
  int result = -1;
  (void)type;
  jbyte *name = (*env)->GetByteArrayElements(env, library, NULL);
  if (name != NULL) {
    result = dds_cuda_probe((const char *)name, &found, text);
    (*env)->ReleaseByteArrayElements(env, library, name, JNI_ABORT);
  }
  if (result == 0) {
    const jint values[] = {found.version, found.devices, found.current};
    (*env)->SetIntArrayRegion(env, facts, 0, 3, values);
  } else {
    tell(env, reason, text);
  }
  return result;
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

static struct dds_cuda_stream *stream_of(jlong handle) {
  return (struct dds_cuda_stream *)(intptr_t)handle;
}

static void *pointer(jlong number) {
  return (void *)(intptr_t)number;
}

/* Returns a handle, or 0 and a reason. */
JNIEXPORT jlong JNICALL Java_org_ddstore_nativeio_CudaStream_open(JNIEnv *env, jclass type, jbyteArray library,
                                                                  jint device, jbyteArray reason) {
  char text[DDS_CUDA_REASON_BYTES] = "out of memory";
  struct dds_cuda_stream *stream = NULL;
  (void)type;
  jbyte *name = (*env)->GetByteArrayElements(env, library, NULL);
  if (name != NULL) {
    dds_cuda_stream_open((const char *)name, device, &stream, text);
    (*env)->ReleaseByteArrayElements(env, library, name, JNI_ABORT);
  }
  if (stream == NULL) {
    tell(env, reason, text);
  }
  return (jlong)(intptr_t)stream;
}

JNIEXPORT void JNICALL Java_org_ddstore_nativeio_CudaStream_errorName(JNIEnv *env, jclass type, jlong handle, jint code,
                                                                      jbyteArray name) {
  (void)type;
  tell(env, name, dds_cuda_stream_error(stream_of(handle), code));
}

JNIEXPORT jlong JNICALL Java_org_ddstore_nativeio_CudaStream_stream(JNIEnv *env, jclass type, jlong handle) {
  (void)env;
  (void)type;
  return (jlong)(intptr_t)dds_cuda_stream_handle(stream_of(handle));
}

/* Writes the address into result[0]. */
JNIEXPORT jint JNICALL Java_org_ddstore_nativeio_CudaStream_allocate(JNIEnv *env, jclass type, jlong handle,
                                                                     jlong bytes, jlongArray result) {
  cu_address address = 0;
  (void)type;
  int code = dds_cuda_allocate(stream_of(handle), (size_t)bytes, &address);
  const jlong value = (jlong)address;
  (*env)->SetLongArrayRegion(env, result, 0, 1, &value);
  return code;
}

JNIEXPORT jint JNICALL Java_org_ddstore_nativeio_CudaStream_free(JNIEnv *env, jclass type, jlong handle,
                                                                 jlong address) {
  (void)env;
  (void)type;
  return dds_cuda_free(stream_of(handle), (cu_address)address);
}

/* Writes the event into result[0]. */
JNIEXPORT jint JNICALL Java_org_ddstore_nativeio_CudaStream_createEvent(JNIEnv *env, jclass type, jlong handle,
                                                                        jlongArray result) {
  cu_event event = NULL;
  (void)type;
  int code = dds_cuda_event_create(stream_of(handle), &event);
  const jlong value = (jlong)(intptr_t)event;
  (*env)->SetLongArrayRegion(env, result, 0, 1, &value);
  return code;
}

JNIEXPORT jint JNICALL Java_org_ddstore_nativeio_CudaStream_destroyEvent(JNIEnv *env, jclass type, jlong handle,
                                                                         jlong event) {
  (void)env;
  (void)type;
  return dds_cuda_event_destroy(stream_of(handle), pointer(event));
}

JNIEXPORT jint JNICALL Java_org_ddstore_nativeio_CudaStream_copyIn(JNIEnv *env, jclass type, jlong handle, jlong target,
                                                                   jlong source, jlong bytes) {
  (void)env;
  (void)type;
  return dds_cuda_copy_in(stream_of(handle), (cu_address)target, pointer(source), (size_t)bytes);
}

JNIEXPORT jint JNICALL Java_org_ddstore_nativeio_CudaStream_copyOut(JNIEnv *env, jclass type, jlong handle,
                                                                    jlong target, jlong source, jlong bytes) {
  (void)env;
  (void)type;
  return dds_cuda_copy_out(stream_of(handle), pointer(target), (cu_address)source, (size_t)bytes);
}

JNIEXPORT jint JNICALL Java_org_ddstore_nativeio_CudaStream_copyWithin(JNIEnv *env, jclass type, jlong handle,
                                                                       jlong target, jlong source, jlong bytes,
                                                                       jlong consumer) {
  (void)env;
  (void)type;
  return dds_cuda_copy_within(stream_of(handle), (cu_address)target, (cu_address)source, (size_t)bytes,
                              pointer(consumer));
}

JNIEXPORT jint JNICALL Java_org_ddstore_nativeio_CudaStream_recordHere(JNIEnv *env, jclass type, jlong handle,
                                                                       jlong event) {
  (void)env;
  (void)type;
  return dds_cuda_record(stream_of(handle), pointer(event));
}

JNIEXPORT jint JNICALL Java_org_ddstore_nativeio_CudaStream_recordOn(JNIEnv *env, jclass type, jlong handle,
                                                                     jlong event, jlong consumer) {
  (void)env;
  (void)type;
  return dds_cuda_record_on(stream_of(handle), pointer(event), pointer(consumer));
}

JNIEXPORT jint JNICALL Java_org_ddstore_nativeio_CudaStream_awaitHere(JNIEnv *env, jclass type, jlong handle,
                                                                      jlong event) {
  (void)env;
  (void)type;
  return dds_cuda_await(stream_of(handle), pointer(event));
}

JNIEXPORT jint JNICALL Java_org_ddstore_nativeio_CudaStream_awaitOn(JNIEnv *env, jclass type, jlong handle, jlong event,
                                                                    jlong consumer) {
  (void)env;
  (void)type;
  return dds_cuda_await_on(stream_of(handle), pointer(event), pointer(consumer));
}

/* Returns 0 if the event is complete, -1 if it is not yet, or the error. */
JNIEXPORT jint JNICALL Java_org_ddstore_nativeio_CudaStream_query(JNIEnv *env, jclass type, jlong handle, jlong event) {
  int done = 0;
  (void)env;
  (void)type;
  int code = dds_cuda_query(stream_of(handle), pointer(event), &done);
  return code == 0 && !done ? -1 : code;
}

JNIEXPORT jint JNICALL Java_org_ddstore_nativeio_CudaStream_waitForEvent(JNIEnv *env, jclass type, jlong handle,
                                                                         jlong event) {
  (void)env;
  (void)type;
  return dds_cuda_event_wait(stream_of(handle), pointer(event));
}

JNIEXPORT jint JNICALL Java_org_ddstore_nativeio_CudaStream_waitForAll(JNIEnv *env, jclass type, jlong handle) {
  (void)env;
  (void)type;
  return dds_cuda_stream_wait(stream_of(handle));
}

JNIEXPORT jint JNICALL Java_org_ddstore_nativeio_CudaStream_close(JNIEnv *env, jclass type, jlong handle) {
  (void)env;
  (void)type;
  return dds_cuda_stream_close(stream_of(handle));
}
