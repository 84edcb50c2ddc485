// SPDX-License-Identifier: Apache-2.0
/*
 * JNI of org.ddstore.fabric.FabricNative. Handles are addresses; texts are UTF-8 with a zero at the
 * end.
 */
#include <jni.h>
#include <stdio.h>
#include <string.h>

#include "fabric_read.h"

#define NAME(method) Java_org_ddstore_fabric_FabricNative_##method

enum { TEXT_BYTES = 512, ADDRESS_BYTES = 512, COLUMNS = 5 };

#define HANDLE(type, value) ((type *)(uintptr_t)(value))

/* Copies a Java text into a buffer of TEXT_BYTES. Returns NULL if there is no text. */
static const char *text_in(JNIEnv *env, jbyteArray text, char *room) {
  if (text == NULL) {
    return NULL;
  }
  jsize bytes = (*env)->GetArrayLength(env, text);
  if (bytes > TEXT_BYTES - 1) {
    bytes = TEXT_BYTES - 1;
  }
  (*env)->GetByteArrayRegion(env, text, 0, bytes, (jbyte *)room);
  room[bytes] = 0;
  return room;
}

/* Copies a text into a Java array, truncated to fit, with a zero at the end. */
static void text_out(JNIEnv *env, const char *text, jbyteArray out) {
  const jbyte zero = 0;
  jsize most = (*env)->GetArrayLength(env, out) - 1;
  jsize bytes = (jsize)strnlen(text, (size_t)most);
  (*env)->SetByteArrayRegion(env, out, 0, bytes, (const jbyte *)text);
  (*env)->SetByteArrayRegion(env, out, bytes, 1, &zero);
}

JNIEXPORT jlong JNICALL NAME(load)(JNIEnv *env, jclass type, jbyteArray path, jbyteArray why) {
  char path_room[TEXT_BYTES];
  char text[TEXT_BYTES] = "";
  struct dds_fabric *library;
  (void)type;
  int result = dds_fabric_load(text_in(env, path, path_room), &library, text, sizeof text);
  text_out(env, text, why);
  return result < 0 ? result : (jlong)(uintptr_t)library;
}

JNIEXPORT jint JNICALL NAME(version)(JNIEnv *env, jclass type, jlong library) {
  (void)env;
  (void)type;
  return (jint)HANDLE(struct dds_fabric, library)->version;
}

JNIEXPORT void JNICALL NAME(errorText)(JNIEnv *env, jclass type, jlong library, jint error, jbyteArray out) {
  (void)type;
  text_out(env, HANDLE(struct dds_fabric, library)->strerror(error), out);
}

/* Writes the PCI address of the device as in sysfs; empty if unknown. */
static void pci_text(const struct fi_info *offer, char *room, size_t bytes) {
  room[0] = 0;
  if (offer->nic != NULL && offer->nic->bus_attr != NULL && offer->nic->bus_attr->bus_type == FI_BUS_PCI) {
    const struct fi_pci_attr *pci = &offer->nic->bus_attr->attr.pci;
    snprintf(room, bytes, "%04x:%02x:%02x.%x", pci->domain_id, pci->bus_id, pci->device_id, pci->function_id);
  }
}

static bool put(JNIEnv *env, jobjectArray array, jsize index, const char *text) {
  jstring string = (*env)->NewStringUTF(env, text == NULL ? "" : text);
  if (string == NULL) {
    return false;
  }
  (*env)->SetObjectArrayElement(env, array, index, string);
  (*env)->DeleteLocalRef(env, string);
  return !(*env)->ExceptionCheck(env);
}

/*
 * Returns COLUMNS texts per offer: provider, domain, fabric, address format, PCI device. NULL if an
 * exception is pending.
 */
JNIEXPORT jobjectArray JNICALL NAME(offers)(JNIEnv *env, jclass type, jlong handle, jbyteArray node) {
  const struct dds_fabric *library = HANDLE(const struct dds_fabric, handle);
  char node_room[TEXT_BYTES];
  char column[TEXT_BYTES];
  struct fi_info *offers = NULL;
  jobjectArray table = NULL;
  jsize count = 0;
  jsize index = 0;
  (void)type;
  if (dds_fabric_offers(library, NULL, NULL, text_in(env, node, node_room), &offers) < 0) {
    offers = NULL;
  }
  for (const struct fi_info *offer = offers; offer != NULL; offer = offer->next) {
    count += COLUMNS;
  }
  jclass string = (*env)->FindClass(env, "java/lang/String");
  if (string != NULL) {
    table = (*env)->NewObjectArray(env, count, string, NULL);
  }
  bool ok = table != NULL;
  for (const struct fi_info *offer = offers; ok && offer != NULL; offer = offer->next) {
    ok = put(env, table, index, offer->fabric_attr->prov_name) &&
         put(env, table, index + 1, offer->domain_attr->name) && put(env, table, index + 2, offer->fabric_attr->name);
    snprintf(column, sizeof column, "%u", offer->addr_format);
    ok = ok && put(env, table, index + 3, column);
    pci_text(offer, column, sizeof column);
    ok = ok && put(env, table, index + 4, column);
    index += COLUMNS;
  }
  if (offers != NULL) {
    library->freeinfo(offers);
  }
  return ok ? table : NULL;
}

JNIEXPORT jlong JNICALL NAME(openServing)(JNIEnv *env, jclass type, jlong library, jbyteArray provider,
                                          jbyteArray domain, jbyteArray node, jbyteArray failed_call) {
  char provider_room[TEXT_BYTES], domain_room[TEXT_BYTES], node_room[TEXT_BYTES];
  struct dds_fabric_end *end;
  const char *call;
  (void)type;
  int result =
      dds_fabric_open(HANDLE(struct dds_fabric, library), text_in(env, provider, provider_room),
                      text_in(env, domain, domain_room), text_in(env, node, node_room), DDS_FABRIC_SERVE, &end, &call);
  text_out(env, call, failed_call);
  return result < 0 ? result : (jlong)(uintptr_t)end;
}

JNIEXPORT void JNICALL NAME(closeServing)(JNIEnv *env, jclass type, jlong end) {
  (void)env;
  (void)type;
  dds_fabric_close(HANDLE(struct dds_fabric_end, end));
}

/* Writes the address to out. Returns its bytes or a negative errno. */
JNIEXPORT jint JNICALL NAME(address)(JNIEnv *env, jclass type, jlong end, jbyteArray out) {
  char address[ADDRESS_BYTES];
  (void)type;
  int bytes = dds_fabric_address(HANDLE(struct dds_fabric_end, end), address, sizeof address);
  if (bytes > (*env)->GetArrayLength(env, out)) {
    return -FI_ETOOSMALL;
  }
  if (bytes > 0) {
    (*env)->SetByteArrayRegion(env, out, 0, bytes, (const jbyte *)address);
  }
  return bytes;
}

JNIEXPORT jint JNICALL NAME(progress)(JNIEnv *env, jclass type, jlong end, jint timeout_ms) {
  (void)env;
  (void)type;
  return dds_fabric_progress(HANDLE(struct dds_fabric_end, end), timeout_ms);
}

JNIEXPORT void JNICALL NAME(wake)(JNIEnv *env, jclass type, jlong end) {
  (void)env;
  (void)type;
  dds_fabric_wake(HANDLE(struct dds_fabric_end, end));
}

JNIEXPORT jlong JNICALL NAME(register)(JNIEnv *env, jclass type, jlong end, jlong memory, jlong bytes, jlong key) {
  struct fid_mr *region;
  (void)env;
  (void)type;
  int result = dds_fabric_register(HANDLE(struct dds_fabric_end, end), HANDLE(void, memory), (size_t)bytes,
                                   (uint64_t)key, &region);
  return result < 0 ? result : (jlong)(uintptr_t)region;
}

JNIEXPORT jint JNICALL NAME(deregister)(JNIEnv *env, jclass type, jlong region) {
  (void)env;
  (void)type;
  return fi_close(&HANDLE(struct fid_mr, region)->fid);
}

JNIEXPORT jlong JNICALL NAME(key)(JNIEnv *env, jclass type, jlong region) {
  (void)env;
  (void)type;
  return (jlong)fi_mr_key(HANDLE(struct fid_mr, region));
}

JNIEXPORT jlong JNICALL NAME(base)(JNIEnv *env, jclass type, jlong end, jlong memory) {
  (void)env;
  (void)type;
  return (jlong)dds_fabric_base(HANDLE(struct dds_fabric_end, end), HANDLE(void, memory));
}

JNIEXPORT jlong JNICALL NAME(openReader)(JNIEnv *env, jclass type, jlong library, jbyteArray provider,
                                         jbyteArray domain, jbyteArray node, jlong bytes_in_flight,
                                         jbyteArray failed_call) {
  char provider_room[TEXT_BYTES], domain_room[TEXT_BYTES], node_room[TEXT_BYTES];
  struct dds_fabric_reader *reader;
  const char *call;
  (void)type;
  int result = dds_reader_open(HANDLE(struct dds_fabric, library), text_in(env, provider, provider_room),
                               text_in(env, domain, domain_room), text_in(env, node, node_room),
                               (size_t)bytes_in_flight, &reader, &call);
  text_out(env, call, failed_call);
  return result < 0 ? result : (jlong)(uintptr_t)reader;
}

JNIEXPORT void JNICALL NAME(closeReader)(JNIEnv *env, jclass type, jlong reader) {
  (void)env;
  (void)type;
  dds_reader_close(HANDLE(struct dds_fabric_reader, reader));
}

JNIEXPORT jint JNICALL NAME(addPeer)(JNIEnv *env, jclass type, jlong reader, jbyteArray address) {
  char bytes[ADDRESS_BYTES] = {0};
  jsize count = (*env)->GetArrayLength(env, address);
  (void)type;
  if (count > ADDRESS_BYTES) {
    return -FI_EINVAL;
  }
  (*env)->GetByteArrayRegion(env, address, 0, count, (jbyte *)bytes);
  return dds_reader_add_peer(HANDLE(struct dds_fabric_reader, reader), bytes);
}

JNIEXPORT jint JNICALL NAME(addSource)(JNIEnv *env, jclass type, jlong reader, jint peer, jlong key) {
  (void)env;
  (void)type;
  return dds_reader_add_source(HANDLE(struct dds_fabric_reader, reader), peer, (uint64_t)key);
}

JNIEXPORT jint JNICALL NAME(addLanding)(JNIEnv *env, jclass type, jlong reader, jlong memory, jlong bytes) {
  (void)env;
  (void)type;
  return dds_reader_add_landing(HANDLE(struct dds_fabric_reader, reader), HANDLE(void, memory), (size_t)bytes);
}

JNIEXPORT void JNICALL NAME(removeLanding)(JNIEnv *env, jclass type, jlong reader, jint region) {
  (void)env;
  (void)type;
  dds_reader_remove_landing(HANDLE(struct dds_fabric_reader, reader), region);
}

JNIEXPORT jint JNICALL NAME(begin)(JNIEnv *env, jclass type, jlong reader, jlong reads, jint count) {
  (void)env;
  (void)type;
  return dds_reader_begin(HANDLE(struct dds_fabric_reader, reader), HANDLE(const struct dds_read, reads),
                          (uint32_t)count);
}

JNIEXPORT jint JNICALL NAME(run)(JNIEnv *env, jclass type, jlong reader, jint timeout_ms) {
  (void)env;
  (void)type;
  return dds_reader_run(HANDLE(struct dds_fabric_reader, reader), timeout_ms);
}

JNIEXPORT jlong JNICALL NAME(bytesArrived)(JNIEnv *env, jclass type, jlong reader) {
  (void)env;
  (void)type;
  return (jlong)dds_reader_bytes(HANDLE(struct dds_fabric_reader, reader));
}

JNIEXPORT jint JNICALL NAME(trouble)(JNIEnv *env, jclass type, jlong reader) {
  (void)env;
  (void)type;
  return dds_reader_trouble(HANDLE(struct dds_fabric_reader, reader));
}

JNIEXPORT void JNICALL NAME(failureText)(JNIEnv *env, jclass type, jlong reader, jbyteArray out) {
  (void)type;
  text_out(env, dds_reader_text(HANDLE(struct dds_fabric_reader, reader)), out);
}

JNIEXPORT jlong JNICALL NAME(addressOf)(JNIEnv *env, jclass type, jobject buffer) {
  (void)type;
  return (jlong)(uintptr_t)(*env)->GetDirectBufferAddress(env, buffer);
}
