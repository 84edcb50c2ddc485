// SPDX-License-Identifier: Apache-2.0
/* JNI of org.ddstore.nativeio.ServedRows and RowServer. */
#include <endian.h>
#include <errno.h>
#include <jni.h>
#include <stdlib.h>
#include <string.h>

#include "jni_descriptors.h"
#include "row_server.h"
#include "served_rows.h"

#define EVENT_LONGS 5

static struct dds_served_rows *rows_of(jlong handle) {
  return (struct dds_served_rows *)(intptr_t)handle;
}

static struct dds_row_server *server_of(jlong handle) {
  return (struct dds_row_server *)(intptr_t)handle;
}

static struct dds_row_channel *channel_of(jlong handle) {
  return (struct dds_row_channel *)(intptr_t)handle;
}

/* Writes a nonce as Handshake.java does. */
static void put_nonce(uint8_t *nonce, jlong high, jlong low) {
  uint64_t parts[] = {htobe64((uint64_t)high), htobe64((uint64_t)low)};
  _Static_assert(sizeof parts == DDS_NONCE_BYTES, "Nonce.java");
  memcpy(nonce, parts, sizeof parts);
}

JNIEXPORT jlong JNICALL Java_org_ddstore_nativeio_ServedRows_openRows(JNIEnv *env, jclass type) {
  (void)env;
  (void)type;
  struct dds_served_rows *rows = dds_rows_open();
  return rows == NULL ? -ENOMEM : (jlong)(intptr_t)rows;
}

JNIEXPORT void JNICALL Java_org_ddstore_nativeio_ServedRows_release(JNIEnv *env, jclass type, jlong rows) {
  (void)env;
  (void)type;
  dds_rows_release(rows_of(rows));
}

/* Returns the elements of an array, to be released by release_elements. */
static int64_t *elements_of(JNIEnv *env, jlongArray array) {
  return (int64_t *)(*env)->GetLongArrayElements(env, array, NULL);
}

static void release_elements(JNIEnv *env, jlongArray array, int64_t *elements) {
  if (elements != NULL) {
    (*env)->ReleaseLongArrayElements(env, array, (jlong *)elements, JNI_ABORT);
  }
}

JNIEXPORT jint JNICALL Java_org_ddstore_nativeio_ServedRows_add(JNIEnv *env, jclass type, jlong rows, jlong high,
                                                                jlong low, jlong version, jlong row_count,
                                                                jint record_bytes, jint row_shift, jlongArray chunks,
                                                                jlongArray chunk_starts, jlongArray entries,
                                                                jint entry_shift) {
  (void)type;
  struct dds_served_segment segment = {.version = (const uint64_t *)(intptr_t)version,
                                       .rows = row_count,
                                       .record_bytes = record_bytes,
                                       .row_shift = row_shift,
                                       .entry_shift = entry_shift,
                                       .chunk_count = (size_t)(*env)->GetArrayLength(env, chunks),
                                       .entry_count = (size_t)(*env)->GetArrayLength(env, entries),
                                       .chunks = elements_of(env, chunks),
                                       .chunk_starts = elements_of(env, chunk_starts),
                                       .entries = elements_of(env, entries)};
  put_nonce(segment.nonce, high, low);
  int result = -ENOMEM;
  if (segment.chunks != NULL && segment.chunk_starts != NULL && segment.entries != NULL) {
    result = dds_rows_add(rows_of(rows), &segment);
  }
  release_elements(env, chunks, segment.chunks);
  release_elements(env, chunk_starts, segment.chunk_starts);
  release_elements(env, entries, segment.entries);
  return result;
}

JNIEXPORT void JNICALL Java_org_ddstore_nativeio_ServedRows_remove(JNIEnv *env, jclass type, jlong rows, jlong high,
                                                                   jlong low) {
  uint8_t nonce[DDS_NONCE_BYTES];
  (void)env;
  (void)type;
  put_nonce(nonce, high, low);
  dds_rows_remove(rows_of(rows), nonce);
}

JNIEXPORT jlong JNICALL Java_org_ddstore_nativeio_ServedRows_counted(JNIEnv *env, jclass type, jlong rows) {
  (void)env;
  (void)type;
  return dds_rows_counted(rows_of(rows));
}

JNIEXPORT jlong JNICALL Java_org_ddstore_nativeio_RowServer_openServer(JNIEnv *env, jclass type, jobject selector,
                                                                       jlong input, jint input_bytes, jlong packed,
                                                                       jint packed_bytes) {
  (void)type;
  int descriptor = dds_descriptor_of_selector(env, selector);
  if (descriptor < 0) {
    return descriptor;
  }
  struct dds_row_server *server;
  int result = dds_row_server_open(descriptor, (uint8_t *)(intptr_t)input, (size_t)input_bytes,
                                   (uint8_t *)(intptr_t)packed, (size_t)packed_bytes, &server);
  return result < 0 ? result : (jlong)(intptr_t)server;
}

JNIEXPORT void JNICALL Java_org_ddstore_nativeio_RowServer_closeServer(JNIEnv *env, jclass type, jlong server) {
  (void)env;
  (void)type;
  dds_row_server_close(server_of(server));
}

JNIEXPORT jlong JNICALL Java_org_ddstore_nativeio_RowServer_addChannel(JNIEnv *env, jclass type, jlong server,
                                                                       jobject channel, jlong rows, jlong counts) {
  (void)type;
  int descriptor = dds_descriptor_of_channel(env, channel);
  if (descriptor < 0) {
    return descriptor;
  }
  struct dds_row_channel *added =
      dds_row_server_add(server_of(server), descriptor, rows_of(rows), (int64_t *)(intptr_t)counts);
  return added == NULL ? -errno : (jlong)(intptr_t)added;
}

JNIEXPORT void JNICALL Java_org_ddstore_nativeio_RowServer_removeChannel(JNIEnv *env, jclass type, jlong server,
                                                                         jlong channel) {
  (void)env;
  (void)type;
  dds_row_server_remove(server_of(server), channel_of(channel));
}

JNIEXPORT jint JNICALL Java_org_ddstore_nativeio_RowServer_serve(JNIEnv *env, jclass type, jlong server,
                                                                 jint timeout_ms, jint most_waits, jlong short_ns,
                                                                 jlongArray event) {
  (void)type;
  struct dds_row_event what;
  int answered = dds_row_server_serve(server_of(server), timeout_ms, most_waits, short_ns, &what);
  if (answered >= 0) {
    jlong longs[EVENT_LONGS] = {what.kind, (jlong)(intptr_t)what.channel, what.length, what.selector, what.short_waits};
    (*env)->SetLongArrayRegion(env, event, 0, EVENT_LONGS, longs);
  }
  return answered;
}
