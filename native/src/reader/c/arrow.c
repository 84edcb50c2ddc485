// SPDX-License-Identifier: Apache-2.0
/* Batches in the memory layout of Arrow, https://arrow.apache.org/docs/format/CDataInterface.html. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cast.h"
#include "reader_state.h"

#define ALIGNMENT 64

/* Memory per row of a ragged field, and for all rows, before their size is known. */
#define FIRST_ROW_BYTES 64
#define MOST_GUESSED ((size_t)64 << 20)

#define FORMAT_BYTES 24
#define METADATA_BYTES 400

/* values: bool as bits. offsets: NULL for a fixed field. */
struct column {
  struct dds_field_info field;
  char *name;
  void *values;
  int64_t *offsets;
};

/* references: from the caller, and from each array that was exported and not released. */
struct dds_arrow {
  int references;
  int64_t rows;
  size_t column_count;
  struct column columns[];
};

static int out_of_memory(struct dds_error *error) {
  return dds_fail(error, DDS_OUT_OF_MEMORY, "no memory for the batch");
}

/* Arrow recommends 64 bytes; memory is never NULL. */
static void *allocate(size_t bytes) {
  return bytes > SIZE_MAX - ALIGNMENT ? NULL : aligned_alloc(ALIGNMENT, bytes / ALIGNMENT * ALIGNMENT + ALIGNMENT);
}

void dds_arrow_close(struct dds_arrow *batch) {
  if (batch == NULL || __atomic_sub_fetch(&batch->references, 1, __ATOMIC_ACQ_REL) > 0) {
    return;
  }
  for (size_t c = 0; c < batch->column_count; c++) {
    free(batch->columns[c].name);
    free(batch->columns[c].values);
    free(batch->columns[c].offsets);
  }
  free(batch);
}

/* Finds memory for a column, and sets the target. */
static int prepare(const struct dds_reader *reader, size_t rows, struct column *column, struct dds_target *target,
                   struct dds_error *error) {
  const struct dds_field_info *field = dds_reader_field(reader, target->field);
  if (field == NULL) {
    return dds_fail(error, DDS_INVALID_ARGUMENT, "field %d outside [0, %d)", target->field,
                    reader->handle->field_count);
  }
  size_t row_bytes = (size_t)field->element_bytes;
  if (field->kind != DDS_FIXED) {
    row_bytes = reader->row_bytes[target->field] > 0 ? reader->row_bytes[target->field] : FIRST_ROW_BYTES;
    column->offsets = rows < SIZE_MAX / sizeof(int64_t) ? allocate((rows + 1) * sizeof(int64_t)) : NULL;
    if (column->offsets == NULL) {
      return out_of_memory(error);
    }
    column->offsets[0] = 0;
    rows = rows < MOST_GUESSED / row_bytes ? rows : MOST_GUESSED / row_bytes;
  }
  column->field = *field;
  column->name = strdup(field->name);
  column->values = row_bytes <= SIZE_MAX / (rows + 1) ? allocate(rows * row_bytes) : NULL;
  target->values = column->values;
  target->value_bytes = rows * row_bytes;
  target->offsets = column->offsets;
  return column->name == NULL || column->values == NULL ? out_of_memory(error) : DDS_OK;
}

/* Replaces memory for values that was too small. */
static int enlarge(struct column *column, struct dds_target *target, struct dds_error *error) {
  if (target->used_bytes <= target->value_bytes) {
    return DDS_OK;
  }
  free(column->values);
  column->values = allocate(target->used_bytes);
  target->values = column->values;
  target->value_bytes = target->used_bytes;
  return column->values == NULL ? out_of_memory(error) : DDS_OK;
}

/* Replaces each eight bytes by one; the rest of the memory stays unused. */
static void pack_bits(uint8_t *values, size_t count) {
  for (size_t i = 0; i < count; i += 8) {
    unsigned bits = 0;
    for (size_t bit = 0; bit < 8 && i + bit < count; bit++) {
      bits |= (unsigned)(values[i + bit] != 0) << bit;
    }
    values[i / 8] = (uint8_t)bits;
  }
}

static int read_columns(struct dds_reader *reader, const int64_t *indices, size_t count, struct dds_arrow *batch,
                        struct dds_target *targets, int64_t deadline_ms, struct dds_error *error) {
  const size_t columns = batch->column_count;
  for (size_t c = 0; c < columns; c++) {
    int code = prepare(reader, count, &batch->columns[c], &targets[c], error);
    if (code != DDS_OK) {
      return code;
    }
  }
  int code;
  while ((code = dds_reader_get_batch(reader, indices, count, targets, columns, deadline_ms, error)) == DDS_TOO_SMALL) {
    for (size_t c = 0; c < columns; c++) {
      code = enlarge(&batch->columns[c], &targets[c], error);
      if (code != DDS_OK) {
        return code;
      }
    }
  }
  for (size_t c = 0; code == DDS_OK && c < columns; c++) {
    if (batch->columns[c].field.dtype == DDS_BOOL) {
      pack_bits(batch->columns[c].values, targets[c].used_bytes);
    }
    if (count > 0) {
      reader->row_bytes[targets[c].field] = targets[c].used_bytes / count * 5 / 4 + 1;
    }
  }
  return code;
}

int dds_arrow_read(struct dds_reader *reader, const int64_t *indices, size_t count, const int *fields,
                   size_t field_count, int64_t deadline_ms, struct dds_arrow **batch, struct dds_error *error) {
  *batch = NULL;
  if (field_count > (size_t)reader->handle->field_count || (field_count > 0 && fields == NULL)) {
    return dds_fail(error, DDS_INVALID_ARGUMENT, "dds_arrow_read: %zu fields of %d, or none are given", field_count,
                    reader->handle->field_count);
  }
  struct dds_arrow *read = calloc(1, sizeof *read + field_count * sizeof read->columns[0]);
  struct dds_target *targets = calloc(field_count + 1, sizeof *targets);
  int code = read == NULL || targets == NULL ? out_of_memory(error) : DDS_OK;
  if (code == DDS_OK) {
    read->references = 1;
    read->rows = (int64_t)count;
    read->column_count = field_count;
    for (size_t c = 0; c < field_count; c++) {
      targets[c].field = fields[c];
    }
    code = read_columns(reader, indices, count, read, targets, deadline_ms, error);
  }
  free(targets);
  if (code == DDS_OK) {
    *batch = read;
  } else {
    dds_arrow_close(read);
  }
  return code;
}

/* What a schema points to; the pointers to the children and the name follow the children. */
struct schema_memory {
  char format[FORMAT_BYTES];
  char metadata[METADATA_BYTES];
  struct ArrowSchema children[];
};

static void release_schema(struct ArrowSchema *schema) {
  for (int64_t i = 0; i < schema->n_children; i++) {
    if (schema->children[i]->release != NULL) {
      schema->children[i]->release(schema->children[i]);
    }
  }
  free(schema->private_data);
  schema->release = NULL;
}

/* Makes a schema whose children are yet to be made. */
static int make_schema(struct ArrowSchema *schema, const char *name, size_t children, struct dds_error *error) {
  struct schema_memory *memory =
      calloc(1, sizeof *memory + children * (sizeof(struct ArrowSchema) + sizeof(void *)) + strlen(name) + 1);
  if (memory == NULL) {
    return out_of_memory(error);
  }
  struct ArrowSchema **pointers = (struct ArrowSchema **)(memory->children + children);
  for (size_t i = 0; i < children; i++) {
    pointers[i] = &memory->children[i];
  }
  *schema = (struct ArrowSchema){.format = memory->format,
                                 .name = strcpy((char *)(pointers + children), name),
                                 .flags = ARROW_FLAG_NULLABLE,
                                 .n_children = (int64_t)children,
                                 .children = pointers,
                                 .release = release_schema,
                                 .private_data = memory};
  return DDS_OK;
}

static char *put_text(char *to, const char *text) {
  int32_t length = (int32_t)strlen(text);
  memcpy(to, &length, sizeof length);
  memcpy(to + sizeof length, text, (size_t)length);
  return to + sizeof length + length;
}

/* Names the shape of several dimensions by the extension that Arrow has for this. */
static void put_shape(const struct dds_field_info *field, char *metadata) {
  char shape[40 + 21 * DDS_MAX_DIMENSIONS];
  int at = sprintf(shape, "{\"shape\":[");
  for (int d = 0; d < field->dimensions; d++) {
    at += sprintf(shape + at, "%s%lld", d == 0 ? "" : ",", (long long)field->shape[d]);
  }
  sprintf(shape + at, "]}");
  const int32_t pairs = 2;
  memcpy(metadata, &pairs, sizeof pairs);
  char *to = put_text(metadata + sizeof pairs, "ARROW:extension:name");
  to = put_text(to, "arrow.fixed_shape_tensor");
  put_text(put_text(to, "ARROW:extension:metadata"), shape);
}

static int64_t values_of_element(const struct dds_field_info *field) {
  return field->element_bytes / (int64_t)dds_dtype_bytes(field->dtype);
}

static int make_element_schema(struct ArrowSchema *schema, const char *name, const struct dds_field_info *field,
                               struct dds_error *error) {
  static const char *const formats[] = {
      [DDS_BOOL] = "b",  [DDS_INT8] = "c",    [DDS_UINT8] = "C",    [DDS_INT16] = "s",   [DDS_INT32] = "i",
      [DDS_INT64] = "l", [DDS_FLOAT16] = "e", [DDS_BFLOAT16] = "S", [DDS_FLOAT32] = "f", [DDS_FLOAT64] = "g"};
  int is_list = field->dimensions > 0;
  int code = make_schema(schema, name, is_list ? 1 : 0, error);
  if (code != DDS_OK) {
    return code;
  }
  struct schema_memory *memory = schema->private_data;
  if (!is_list) {
    strcpy(memory->format, formats[field->dtype]);
    return DDS_OK;
  }
  snprintf(memory->format, sizeof memory->format, "+w:%lld", (long long)values_of_element(field));
  if (field->dimensions > 1) {
    put_shape(field, memory->metadata);
    schema->metadata = memory->metadata;
  }
  struct dds_field_info value = *field;
  value.dimensions = 0;
  return make_element_schema(schema->children[0], "item", &value, error);
}

static int make_column_schema(struct ArrowSchema *schema, const struct column *column, struct dds_error *error) {
  if (column->field.kind == DDS_FIXED) {
    return make_element_schema(schema, column->name, &column->field, error);
  }
  int is_ragged = column->field.kind == DDS_RAGGED;
  int code = make_schema(schema, column->name, is_ragged ? 1 : 0, error);
  if (code != DDS_OK) {
    return code;
  }
  struct schema_memory *memory = schema->private_data;
  strcpy(memory->format, is_ragged ? "+L" : column->field.kind == DDS_STRING ? "U" : "Z");
  return is_ragged ? make_element_schema(schema->children[0], "item", &column->field, error) : DDS_OK;
}

int dds_arrow_schema(const struct dds_arrow *batch, struct ArrowSchema *schema, struct dds_error *error) {
  *schema = (struct ArrowSchema){0};
  int code = make_schema(schema, "", batch->column_count, error);
  if (code == DDS_OK) {
    schema->flags = 0;
    strcpy(((struct schema_memory *)schema->private_data)->format, "+s");
  }
  for (size_t c = 0; code == DDS_OK && c < batch->column_count; c++) {
    code = make_column_schema(schema->children[c], &batch->columns[c], error);
  }
  if (code != DDS_OK && schema->release != NULL) {
    schema->release(schema);
  }
  return code;
}

/* What an array points to; the pointers to the children follow the children. */
struct array_memory {
  struct dds_arrow *batch;
  const void *buffers[3];
  struct ArrowArray children[];
};

static void release_array(struct ArrowArray *array) {
  for (int64_t i = 0; i < array->n_children; i++) {
    if (array->children[i]->release != NULL) {
      array->children[i]->release(array->children[i]);
    }
  }
  struct array_memory *memory = array->private_data;
  dds_arrow_close(memory->batch);
  free(memory);
  array->release = NULL;
}

/* Makes an array without nulls, whose children are yet to be made. */
static int make_array(struct ArrowArray *array, struct dds_arrow *batch, int64_t length, const void *first,
                      const void *second, size_t children, struct dds_error *error) {
  struct array_memory *memory = calloc(1, sizeof *memory + children * (sizeof(struct ArrowArray) + sizeof(void *)));
  if (memory == NULL) {
    return out_of_memory(error);
  }
  __atomic_add_fetch(&batch->references, 1, __ATOMIC_RELAXED);
  memory->batch = batch;
  memory->buffers[1] = first;
  memory->buffers[2] = second;
  struct ArrowArray **pointers = (struct ArrowArray **)(memory->children + children);
  for (size_t i = 0; i < children; i++) {
    pointers[i] = &memory->children[i];
  }
  *array = (struct ArrowArray){.length = length,
                               .n_buffers = 1 + (first != NULL) + (second != NULL),
                               .n_children = (int64_t)children,
                               .buffers = memory->buffers,
                               .children = pointers,
                               .release = release_array,
                               .private_data = memory};
  return DDS_OK;
}

static int make_elements(struct ArrowArray *array, struct dds_arrow *batch, const struct column *column, int64_t count,
                         struct dds_error *error) {
  if (column->field.dimensions == 0) {
    return make_array(array, batch, count, column->values, NULL, 0, error);
  }
  int code = make_array(array, batch, count, NULL, NULL, 1, error);
  return code != DDS_OK ? code
                        : make_array(array->children[0], batch, count * values_of_element(&column->field),
                                     column->values, NULL, 0, error);
}

static int make_column(struct ArrowArray *array, struct dds_arrow *batch, const struct column *column,
                       struct dds_error *error) {
  if (column->field.kind == DDS_FIXED) {
    return make_elements(array, batch, column, batch->rows, error);
  }
  if (column->field.kind != DDS_RAGGED) {
    return make_array(array, batch, batch->rows, column->offsets, column->values, 0, error);
  }
  int code = make_array(array, batch, batch->rows, column->offsets, NULL, 1, error);
  return code != DDS_OK ? code : make_elements(array->children[0], batch, column, column->offsets[batch->rows], error);
}

int dds_arrow_array(struct dds_arrow *batch, struct ArrowArray *array, struct dds_error *error) {
  *array = (struct ArrowArray){0};
  int code = make_array(array, batch, batch->rows, NULL, NULL, batch->column_count, error);
  for (size_t c = 0; code == DDS_OK && c < batch->column_count; c++) {
    code = make_column(array->children[c], batch, &batch->columns[c], error);
  }
  if (code != DDS_OK && array->release != NULL) {
    array->release(array);
  }
  return code;
}
