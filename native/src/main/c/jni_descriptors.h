// SPDX-License-Identifier: Apache-2.0
/* Descriptors of selectors and channels of Java. */
#ifndef DDS_JNI_DESCRIPTORS_H
#define DDS_JNI_DESCRIPTORS_H

#include <jni.h>

/* Returns the epoll descriptor of a selector, or -ENOTSUP if this JDK has none. */
int dds_descriptor_of_selector(JNIEnv *env, jobject selector);

/* Returns the descriptor of a channel, or -ENOTSUP if this JDK does not tell it. */
int dds_descriptor_of_channel(JNIEnv *env, jobject channel);

#endif
