// SPDX-License-Identifier: Apache-2.0
/* JNI of org.ddstore.nativeio.NativeLibrary. */
#include <errno.h>
#include <fcntl.h>
#include <jni.h>

#include "library.h"

JNIEXPORT jint JNICALL Java_org_ddstore_nativeio_NativeLibrary_abiVersion(JNIEnv *env, jclass type) {
  (void)env;
  (void)type;
  return DDS_ABI_VERSION;
}

JNIEXPORT jint JNICALL Java_org_ddstore_nativeio_NativeLibrary_features(JNIEnv *env, jclass type) {
  (void)env;
  (void)type;
  return dds_features();
}

/* Opens a file. Returns a descriptor or -errno. The path is UTF-8 with a zero at the end. */
JNIEXPORT jint JNICALL Java_org_ddstore_nativeio_NativeLibrary_open(JNIEnv *env, jclass type, jbyteArray path) {
  int result = -ENOMEM;
  (void)type;
  jbyte *name = (*env)->GetByteArrayElements(env, path, NULL);
  if (name != NULL) {
    int descriptor = open((const char *)name, O_RDONLY | O_CLOEXEC);
    result = descriptor < 0 ? -errno : descriptor;
    (*env)->ReleaseByteArrayElements(env, path, name, JNI_ABORT);
  }
  return result;
}
