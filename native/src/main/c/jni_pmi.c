// SPDX-License-Identifier: Apache-2.0
/* JNI of org.ddstore.mpi.ProcessManager, with a callback into Java. */
#include <errno.h>
#include <jni.h>
#include <stdlib.h>
#include <string.h>

#include "pmi.h"
#include "process_read.h"

struct exchange {
  JavaVM *vm;
  jobject target; /* global reference */
  jmethodID method;
};

/* Calls Java from MPI_Init, on the Java thread that called MPI_Init. */
static int call_java(void *context, const char *mine, size_t mine_bytes, char **all, size_t *all_bytes) {
  struct exchange *exchange = context;
  JNIEnv *env;
  jbyteArray given = NULL;
  jbyteArray taken = NULL;
  char *copy = NULL;
  int result = -EIO;

  if ((*exchange->vm)->GetEnv(exchange->vm, (void **)&env, JNI_VERSION_1_8) != JNI_OK) {
    return -EPERM;
  }
  given = (*env)->NewByteArray(env, (jsize)mine_bytes);
  if (given == NULL) {
    goto done;
  }
  (*env)->SetByteArrayRegion(env, given, 0, (jsize)mine_bytes, (const jbyte *)mine);
  taken = (*env)->CallObjectMethod(env, exchange->target, exchange->method, given);
  if ((*env)->ExceptionCheck(env) || taken == NULL) {
    goto done;
  }
  jsize length = (*env)->GetArrayLength(env, taken);
  copy = malloc((size_t)length + 1);
  if (copy == NULL) {
    goto done;
  }
  (*env)->GetByteArrayRegion(env, taken, 0, length, (jbyte *)copy);
  *all = copy;
  *all_bytes = (size_t)length;
  result = 0;
done:
  /* Java keeps its exception, because none may be pending when control returns to MPI_Init. */
  if ((*env)->ExceptionCheck(env)) {
    (*env)->ExceptionClear(env);
  }
  (*env)->DeleteLocalRef(env, given);
  (*env)->DeleteLocalRef(env, taken);
  return result;
}

/* Returns 0 or -errno. The target lives until close, or until the process ends. */
JNIEXPORT jint JNICALL Java_org_ddstore_mpi_ProcessManager_open(JNIEnv *env, jclass type, jint rank, jint size,
                                                                jintArray clique, jobject target) {
  struct exchange *exchange = calloc(1, sizeof *exchange);
  jint *ranks = NULL;
  int result = -ENOMEM;
  (void)type;

  if (exchange == NULL) {
    return -ENOMEM;
  }
  jclass target_type = (*env)->GetObjectClass(env, target);
  exchange->method = (*env)->GetMethodID(env, target_type, "exchange", "([B)[B");
  exchange->target = (*env)->NewGlobalRef(env, target);
  ranks = (*env)->GetIntArrayElements(env, clique, NULL);
  if (exchange->method == NULL || exchange->target == NULL || ranks == NULL ||
      (*env)->GetJavaVM(env, &exchange->vm) != JNI_OK) {
    goto done;
  }
  result = dds_pmi_open(rank, size, ranks, (*env)->GetArrayLength(env, clique), call_java, exchange);
done:
  if (ranks != NULL) {
    (*env)->ReleaseIntArrayElements(env, clique, ranks, JNI_ABORT);
  }
  if (result != 0) {
    if (exchange->target != NULL) {
      (*env)->DeleteGlobalRef(env, exchange->target);
    }
    free(exchange);
  }
  return result;
}

/* Closes a world whose MPI_Init failed. */
JNIEXPORT void JNICALL Java_org_ddstore_mpi_ProcessManager_close(JNIEnv *env, jclass type) {
  struct exchange *exchange = dds_pmi_close();
  (void)type;
  if (exchange != NULL) {
    (*env)->DeleteGlobalRef(env, exchange->target);
    free(exchange);
  }
}

static char *copy_of(JNIEnv *env, jbyteArray text) {
  jsize length = (*env)->GetArrayLength(env, text);
  char *copy = calloc((size_t)length + 1, 1);
  if (copy != NULL) {
    (*env)->GetByteArrayRegion(env, text, 0, length, (jbyte *)copy);
  }
  return copy;
}

/*
 * Sets a variable of the C environment, which MPI reads; System.getenv() is a copy from the start
 * of the JVM. NULL unsets it.
 */
JNIEXPORT jint JNICALL Java_org_ddstore_mpi_ProcessManager_setEnvironment(JNIEnv *env, jclass type, jbyteArray name,
                                                                          jbyteArray value) {
  char *c_name = copy_of(env, name);
  char *c_value = value == NULL ? NULL : copy_of(env, value);
  int result = -ENOMEM;
  (void)type;
  if (c_name != NULL && value == NULL) {
    result = unsetenv(c_name) == 0 ? 0 : -errno;
  } else if (c_name != NULL && c_value != NULL) {
    result = setenv(c_name, c_value, 1) == 0 ? 0 : -errno;
  }
  free(c_name);
  free(c_value);
  return result;
}

/* Returns 0 or -errno. */
JNIEXPORT jint JNICALL Java_org_ddstore_mpi_ProcessManager_checkProcessRead(JNIEnv *env, jclass type) {
  (void)env;
  (void)type;
  return dds_process_read_check();
}
