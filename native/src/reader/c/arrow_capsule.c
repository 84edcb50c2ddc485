// SPDX-License-Identifier: Apache-2.0
/*
 * Capsules of Python for batches of Arrow, without Python.h. Their destructors are here because Python destroys objects
 * also while it raises an exception or ends, when no function in Python could run.
 */
#include <stdlib.h>

#include "ddstore_reader.h"

#define SCHEMA "arrow_schema"
#define ARRAY "arrow_array"

static dds_capsule_new new_capsule;
static dds_capsule_pointer pointer_of;

void dds_arrow_use_python(dds_capsule_new make, dds_capsule_pointer pointer) {
  new_capsule = make;
  pointer_of = pointer;
}

/* The consumer has set release to NULL if it has moved the structure. */
static void free_schema(struct ArrowSchema *schema) {
  if (schema->release != NULL) {
    schema->release(schema);
  }
  free(schema);
}

static void free_array(struct ArrowArray *array) {
  if (array->release != NULL) {
    array->release(array);
  }
  free(array);
}

static void destroy_schema(void *capsule) {
  free_schema(pointer_of(capsule, SCHEMA));
}

static void destroy_array(void *capsule) {
  free_array(pointer_of(capsule, ARRAY));
}

void *dds_arrow_schema_capsule(const struct dds_arrow *batch) {
  struct ArrowSchema *schema = malloc(sizeof *schema);
  if (schema == NULL || dds_arrow_schema(batch, schema, NULL) != DDS_OK) {
    free(schema);
    return NULL;
  }
  void *capsule = new_capsule(schema, SCHEMA, destroy_schema);
  if (capsule == NULL) {
    free_schema(schema);
  }
  return capsule;
}

void *dds_arrow_array_capsule(struct dds_arrow *batch) {
  struct ArrowArray *array = malloc(sizeof *array);
  if (array == NULL || dds_arrow_array(batch, array, NULL) != DDS_OK) {
    free(array);
    return NULL;
  }
  void *capsule = new_capsule(array, ARRAY, destroy_array);
  if (capsule == NULL) {
    free_array(array);
  }
  return capsule;
}
