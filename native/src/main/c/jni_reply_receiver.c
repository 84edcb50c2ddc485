// SPDX-License-Identifier: Apache-2.0
/* JNI of org.ddstore.nativeio.ReplyReceiver. */
#include <errno.h>
#include <jni.h>
#include <string.h>

#include "jni_descriptors.h"
#include "reply_receiver.h"

#define ARRIVAL_LONGS 4
#define HEADER_LONGS 2

_Static_assert(sizeof(struct dds_arrival) == ARRIVAL_LONGS * sizeof(jlong), "ReplyReceiver.java");

static struct dds_reply_receiver *receiver_of(jlong handle) {
  return (struct dds_reply_receiver *)(intptr_t)handle;
}

static struct dds_reply_channel *channel_of(jlong handle) {
  return (struct dds_reply_channel *)(intptr_t)handle;
}

JNIEXPORT jlong JNICALL Java_org_ddstore_nativeio_ReplyReceiver_openReceiver(JNIEnv *env, jclass type,
                                                                             jobject selector) {
  (void)type;
  int descriptor = dds_descriptor_of_selector(env, selector);
  if (descriptor < 0) {
    return descriptor;
  }
  struct dds_reply_receiver *receiver;
  int result = dds_reply_receiver_open(descriptor, &receiver);
  return result < 0 ? result : (jlong)(intptr_t)receiver;
}

JNIEXPORT void JNICALL Java_org_ddstore_nativeio_ReplyReceiver_closeReceiver(JNIEnv *env, jclass type, jlong receiver) {
  (void)env;
  (void)type;
  dds_reply_receiver_close(receiver_of(receiver));
}

JNIEXPORT jlong JNICALL Java_org_ddstore_nativeio_ReplyReceiver_addChannel(JNIEnv *env, jclass type, jlong receiver,
                                                                           jobject channel, jint number) {
  (void)type;
  int descriptor = dds_descriptor_of_channel(env, channel);
  if (descriptor < 0) {
    return descriptor;
  }
  struct dds_reply_channel *added = dds_reply_receiver_add(receiver_of(receiver), descriptor, number);
  return added == NULL ? -errno : (jlong)(intptr_t)added;
}

JNIEXPORT void JNICALL Java_org_ddstore_nativeio_ReplyReceiver_removeChannel(JNIEnv *env, jclass type, jlong receiver,
                                                                             jlong channel) {
  (void)env;
  (void)type;
  dds_reply_receiver_remove(receiver_of(receiver), channel_of(channel));
}

JNIEXPORT jint JNICALL Java_org_ddstore_nativeio_ReplyReceiver_send(JNIEnv *env, jclass type, jlong channel,
                                                                    jlong bytes, jint count) {
  (void)env;
  (void)type;
  return (jint)dds_reply_receiver_send(channel_of(channel), (const uint8_t *)(intptr_t)bytes, (size_t)count);
}

static struct iovec part(jlong address, jint bytes) {
  return (struct iovec){.iov_base = (void *)(intptr_t)address, .iov_len = (size_t)bytes};
}

JNIEXPORT void JNICALL Java_org_ddstore_nativeio_ReplyReceiver_expect(JNIEnv *env, jclass type, jlong receiver,
                                                                      jlong channel, jlong head, jint head_bytes,
                                                                      jlong data, jint data_bytes, jlong tail,
                                                                      jint tail_bytes, jboolean more) {
  (void)env;
  (void)type;
  const struct iovec parts[DDS_REPLY_PARTS] = {part(head, head_bytes), part(data, data_bytes), part(tail, tail_bytes)};
  dds_reply_receiver_expect(receiver_of(receiver), channel_of(channel), parts, more);
}

JNIEXPORT jint JNICALL Java_org_ddstore_nativeio_ReplyReceiver_receive(JNIEnv *env, jclass type, jlong receiver,
                                                                       jint timeout_ms, jint most_waits, jlong short_ns,
                                                                       jlong result, jint most) {
  (void)env;
  (void)type;
  jlong *longs = (jlong *)(intptr_t)result;
  struct dds_receipt receipt;
  int arrived = dds_reply_receiver_receive(receiver_of(receiver), timeout_ms, most_waits, short_ns,
                                           (struct dds_arrival *)(longs + HEADER_LONGS), (size_t)most, &receipt);
  longs[0] = receipt.selector;
  longs[1] = receipt.short_waits;
  return arrived;
}

JNIEXPORT jstring JNICALL Java_org_ddstore_nativeio_ReplyReceiver_text(JNIEnv *env, jclass type, jint error) {
  (void)type;
  char text[128];
  return (*env)->NewStringUTF(env, strerror_r(error, text, sizeof text));
}
