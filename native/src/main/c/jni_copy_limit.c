// SPDX-License-Identifier: Apache-2.0
/* JNI of org.ddstore.nativeio.CopyLimit. */
#include <errno.h>
#include <jni.h>

#include "copy_limit.h"

JNIEXPORT jlong JNICALL Java_org_ddstore_nativeio_CopyLimit_copyRows(JNIEnv *env, jclass type, jlongArray rows,
                                                                     jlongArray targets, jint batch_rows,
                                                                     jint row_bytes) {
  jlong result = -ENOMEM;
  (void)type;
  jlong *targets_of = NULL;
  jlong *rows_of = (*env)->GetLongArrayElements(env, rows, NULL);
  if (rows_of == NULL) {
    goto end;
  }
  targets_of = (*env)->GetLongArrayElements(env, targets, NULL);
  if (targets_of == NULL) {
    goto end;
  }
  result = dds_copy_rows((const int64_t *)rows_of, (const int64_t *)targets_of,
                         (size_t)(*env)->GetArrayLength(env, targets), (size_t)batch_rows, (size_t)row_bytes);
end:
  if (targets_of != NULL) {
    (*env)->ReleaseLongArrayElements(env, targets, targets_of, JNI_ABORT);
  }
  if (rows_of != NULL) {
    (*env)->ReleaseLongArrayElements(env, rows, rows_of, JNI_ABORT);
  }
  return result;
}

JNIEXPORT jlong JNICALL Java_org_ddstore_nativeio_CopyLimit_copyStretch(JNIEnv *env, jclass type, jlong from, jlong to,
                                                                        jlong bytes) {
  (void)env;
  (void)type;
  return dds_copy_stretch((const uint8_t *)(uintptr_t)from, (uint8_t *)(uintptr_t)to, (size_t)bytes);
}
