// SPDX-License-Identifier: Apache-2.0
#include "jni_descriptors.h"

#include <errno.h>

int dds_descriptor_of_selector(JNIEnv *env, jobject selector) {
  jfieldID field = (*env)->GetFieldID(env, (*env)->GetObjectClass(env, selector), "epfd", "I");
  if (field == NULL) {
    (*env)->ExceptionClear(env);
    return -ENOTSUP;
  }
  return (*env)->GetIntField(env, selector, field);
}

int dds_descriptor_of_channel(JNIEnv *env, jobject channel) {
  jmethodID method = (*env)->GetMethodID(env, (*env)->GetObjectClass(env, channel), "getFDVal", "()I");
  if (method == NULL) {
    (*env)->ExceptionClear(env);
    return -ENOTSUP;
  }
  return (*env)->CallIntMethod(env, channel, method);
}
