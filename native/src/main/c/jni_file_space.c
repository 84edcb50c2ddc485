// SPDX-License-Identifier: Apache-2.0
/* JNI of org.ddstore.nativeio.NativeSpaceReserver. */
#include <errno.h>
#include <jni.h>

#include "file_space.h"

/* The path is UTF-8 with a zero at the end. */
JNIEXPORT jint JNICALL Java_org_ddstore_nativeio_NativeSpaceReserver_reserveSpace(JNIEnv *env, jclass type,
                                                                                  jbyteArray path, jlong from,
                                                                                  jlong bytes) {
  jint result = -ENOMEM;
  (void)type;
  jbyte *name = (*env)->GetByteArrayElements(env, path, NULL);
  if (name != NULL) {
    result = dds_reserve((const char *)name, from, bytes);
    (*env)->ReleaseByteArrayElements(env, path, name, JNI_ABORT);
  }
  return result;
}
