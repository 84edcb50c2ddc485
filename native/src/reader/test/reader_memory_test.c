// SPDX-License-Identifier: Apache-2.0
/* Reads of mapped segments. The files are written here, as docs/segment-format.md says, without Java. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../test/c/check.h"
#include "cast.h"
#include "ddstore_reader.h"
#include "mapped_segment.h"

#define SEGMENTS 3
#define ROWS 100
#define PAGE 4096
#define NONCE "00112233445566778899aabbccddee"
#define KEY "0f1e2d3c4b5a69780f1e2d3c4b5a69780f1e2d3c4b5a69780f1e2d3c4b5a6978"

static char directory[200];
static char json[20000];
static struct dds_error error;

/* A row has x = {row, -row} in float32, and unless only fixed, words = row % 7 numbers, and a text. */
static int ragged;

static void put32(uint8_t *to, uint32_t value) {
  memcpy(to, &value, sizeof value);
}

static void put64(uint8_t *to, uint64_t value) {
  memcpy(to, &value, sizeof value);
}

static size_t put_field(uint8_t *to, const char *name, int kind, int dtype, int dimensions, uint32_t size) {
  size_t length = strlen(name);
  to[0] = (uint8_t)length;
  to[1] = 0;
  memcpy(to + 2, name, length);
  to[2 + length] = (uint8_t)kind;
  to[3 + length] = (uint8_t)dtype;
  to[4 + length] = (uint8_t)dimensions;
  put32(to + 5 + length, size);
  return 5 + length + 4 * (size_t)dimensions;
}

static size_t put_record(uint8_t *to, int64_t row) {
  float x[2] = {(float)row, -(float)row};
  memcpy(to, x, sizeof x);
  if (!ragged) {
    return sizeof x;
  }
  char text[30];
  int words = (int)(row % 7);
  int length = snprintf(text, sizeof text, "row %" PRId64, row);
  put32(to + 8, (uint32_t)words);
  put32(to + 12, (uint32_t)length);
  for (int w = 0; w < words; w++) {
    put64(to + 16 + 8 * w, (uint64_t)(row * 10 + w));
  }
  memcpy(to + 16 + 8 * words, text, (size_t)length);
  return 16 + 8 * (size_t)words + (size_t)length;
}

static void write_file(const char *name, const uint8_t *bytes, size_t count) {
  char path[300];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  int file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
  CHECK(file >= 0 && write(file, bytes, count) == (ssize_t)count && close(file) == 0);
}

/* Writes a segment; returns the size of its records. */
static int64_t write_segment(int number) {
  static uint8_t data[PAGE + ROWS * 200];
  static uint8_t index[PAGE + 8 * (ROWS + 3)];
  memset(data, 0, sizeof data);
  memset(index, 0, sizeof index);
  uint64_t size = 0;
  for (int64_t row = 0; row < ROWS; row++) {
    put64(index + PAGE + 8 * row, size);
    size += put_record(data + PAGE + size, number * ROWS + row);
  }
  put64(index + PAGE + 8 * ROWS, size);
  put64(index + PAGE + 8 * (ROWS + 1), 0);
  put64(index + PAGE + 8 * (ROWS + 2), size);
  memcpy(index, "DDSTOFS1", 8);
  put64(index + 8, UINT64_C(0x0011223344556677));
  put64(index + 16, UINT64_C(0x8899aabbccddee00) + (uint64_t)number);
  put64(index + 24, ROWS);
  put32(index + 32, 1);
  memcpy(data, "DDSTSEG1", 8);
  put32(data + 8, 1);
  put32(data + 12, PAGE);
  memcpy(data + 16, index + 8, 16);
  put64(data + 32, ROWS);
  put64(data + 40, size);
  put32(data + 48, ragged ? 0 : 8);
  put32(data + 52, ragged ? 0 : 20);
  put64(data + 64, 4);
  put64(data + 72, dds_boot_id());
  uint8_t *schema = data + 128;
  schema[0] = ragged ? 3 : 1;
  size_t bytes = 2 + put_field(schema + 2, "x", DDS_FIXED, DDS_FLOAT32, 1, 2);
  if (ragged) {
    bytes += put_field(schema + bytes, "words", DDS_RAGGED, DDS_INT64, 0, 0);
    bytes += put_field(schema + bytes, "text", DDS_STRING, DDS_UINT8, 0, 0);
  }
  put32(data + 56, (uint32_t)bytes);
  char name[40];
  snprintf(name, sizeof name, "segment%d", number);
  write_file(name, data, PAGE + size);
  if (ragged) {
    snprintf(name, sizeof name, "segment%d.offsets", number);
    write_file(name, index, sizeof index);
  }
  return (int64_t)size;
}

static void write_store(int is_ragged) {
  ragged = is_ragged;
  char *to = json;
  to += sprintf(to,
                "{\"format\":\"ddstore-handle\",\"version\":1,\"name\":\"train\",\"store\":\"%s00\",\"state\":1,"
                "\"rows\":%d,\"digest\":\"\",\"recordBytes\":%d,\"fields\":[{\"name\":\"x\",\"kind\":\"fixed\","
                "\"dtype\":\"float32\",\"shape\":[2]}%s],\"processes\":[],\"noPort\":\"this is a test\",\"ranks\":%d,"
                "\"copies\":[[",
                NONCE, SEGMENTS * ROWS, ragged ? 0 : 8,
                ragged ? ",{\"name\":\"words\",\"kind\":\"ragged\",\"dtype\":\"int64\",\"shape\":[]},"
                         "{\"name\":\"text\",\"kind\":\"string\",\"dtype\":\"uint8\",\"shape\":[]}"
                       : "",
                SEGMENTS);
  for (int s = 0; s < SEGMENTS; s++) {
    int64_t bytes = write_segment(s);
    to += sprintf(to,
                  "%s{\"firstRow\":%d,\"rows\":%d,\"rank\":%d,\"owner\":\"1@h\",\"bytes\":%" PRId64
                  ",\"nonce\":\"%s0%d\",\"boot\":\"%016" PRIx64 "\",\"path\":\"%s/segment%d\",\"process\":null}",
                  s == 0 ? "" : ",", s * ROWS, ROWS, s, bytes, NONCE, s, dds_boot_id(), directory, s);
  }
  sprintf(to, "]],\"grant\":{\"label\":\"handle\",\"expiresMs\":null,\"key\" :\"" KEY "\"}}");
}

static struct dds_reader *open_reader(void) {
  struct dds_reader *reader = NULL;
  int code = dds_reader_open(json, strlen(json), 0, &reader, &error);
  if (code != DDS_OK) {
    fprintf(stderr, "%s\n", error.text);
  }
  CHECK(code == DDS_OK);
  return reader;
}

static void reads_every_row(void) {
  struct dds_reader *reader = open_reader();
  int64_t indices[SEGMENTS * ROWS];
  float x[SEGMENTS * ROWS][2];
  int64_t words[SEGMENTS * ROWS * 7];
  char text[SEGMENTS * ROWS * 10];
  int64_t word_offsets[SEGMENTS * ROWS + 1];
  int64_t text_offsets[SEGMENTS * ROWS + 1];
  struct dds_target targets[] = {{.field = 2, .values = text, .value_bytes = sizeof text, .offsets = text_offsets},
                                 {.field = 0, .values = x, .value_bytes = sizeof x},
                                 {.field = 1, .values = words, .value_bytes = sizeof words, .offsets = word_offsets}};
  CHECK(dds_reader_rows(reader) == SEGMENTS * ROWS && strcmp(dds_reader_name(reader), "train") == 0);
  for (int64_t i = 0; i < SEGMENTS * ROWS; i++) {
    indices[i] = (i * 77 + 5) % (SEGMENTS * ROWS);
  }
  size_t first = ragged ? 0 : 1;
  CHECK(dds_reader_get_batch(reader, indices, SEGMENTS * ROWS, targets + first, ragged ? 3 : 1, 1000, &error) ==
        DDS_OK);
  for (int64_t i = 0; i < SEGMENTS * ROWS; i++) {
    int64_t row = indices[i];
    CHECK(x[i][0] == (float)row && x[i][1] == -(float)row);
    if (ragged) {
      char expected[30];
      int length = snprintf(expected, sizeof expected, "row %" PRId64, row);
      CHECK(text_offsets[i + 1] - text_offsets[i] == length);
      CHECK(memcmp(text + text_offsets[i], expected, (size_t)length) == 0);
      CHECK(word_offsets[i + 1] - word_offsets[i] == row % 7);
      for (int64_t w = 0; w < row % 7; w++) {
        CHECK(words[word_offsets[i] + w] == row * 10 + w);
      }
    }
  }
  struct dds_reach reach = dds_reader_reach(reader);
  CHECK(reach.mapped_segments == SEGMENTS && reach.mapped_rows == SEGMENTS * ROWS && reach.remote_rows == 0);

  /* No rows; the first and the last one; a row outside; a deadline that is none. */
  CHECK(dds_reader_get_batch(reader, indices, 0, targets + first, 1, 1, &error) == DDS_OK);
  const int64_t ends[] = {SEGMENTS * ROWS - 1, 0, 0};
  CHECK(dds_reader_get_batch(reader, ends, 3, targets + 1, 1, 1, &error) == DDS_OK && x[0][0] == 299 && x[2][1] == 0);
  const int64_t outside[] = {-1, SEGMENTS * ROWS, INT64_MIN, INT64_MAX};
  for (int i = 0; i < 4; i++) {
    CHECK(dds_reader_get_batch(reader, outside + i, 1, targets + 1, 1, 1, &error) == DDS_INVALID_ARGUMENT);
    CHECK(strstr(error.text, "outside [0, 300) of \"train\"") != NULL);
  }
  CHECK(dds_reader_get_batch(reader, ends, 1, targets + 1, 1, 0, &error) == DDS_INVALID_ARGUMENT);
  targets[1].value_bytes = 15;
  CHECK(dds_reader_get_batch(reader, ends, 2, targets + 1, 1, 1, &error) == DDS_INVALID_ARGUMENT);
  targets[1].field = 9;
  CHECK(dds_reader_get_batch(reader, ends, 1, targets + 1, 1, 1, &error) == DDS_INVALID_ARGUMENT);
  if (ragged) {
    targets[0].value_bytes = 3;
    CHECK(dds_reader_get_batch(reader, ends, 3, targets, 1, 1, &error) == DDS_TOO_SMALL);
    CHECK(targets[0].used_bytes == 7 + 5 + 5);
  }
  dds_reader_close(reader);
}

static void casts(void) {
  struct dds_reader *reader = open_reader();
  int64_t indices[] = {299, 3, 101};
  uint16_t halves[3][2];
  struct dds_target target = {.values = halves, .value_bytes = sizeof halves, .cast = DDS_BFLOAT16, .scale = 0.5f};
  CHECK(dds_reader_get_batch(reader, indices, 3, &target, 1, 1000, &error) == DDS_OK);
  /* 149.5 is a tie between 149 and 150, which is even; 1.5 and 50.5 need few digits */
  CHECK(halves[0][0] == 0x4316 && halves[0][1] == 0xc316 && halves[1][0] == 0x3fc0 && halves[2][1] == 0xc24a);
  target.value_bytes = 11;
  CHECK(dds_reader_get_batch(reader, indices, 3, &target, 1, 1000, &error) == DDS_INVALID_ARGUMENT);
  target.value_bytes = sizeof halves;
  for (int cast = 0; cast <= DDS_FLOAT64 + 1; cast++) {
    float wide[3][2];
    target = (struct dds_target){.values = wide, .value_bytes = sizeof wide, .cast = cast, .scale = 1};
    int legal = cast == 0 || cast == DDS_FLOAT32 || cast == DDS_BFLOAT16;
    CHECK(dds_reader_get_batch(reader, indices, 3, &target, 1, 1000, &error) ==
          (legal ? DDS_OK : DDS_INVALID_ARGUMENT));
  }
  target.cast = DDS_FLOAT32;
  for (int i = 0; i < 2; i++) {
    target.scale = i == 0 ? 0 : INFINITY;
    CHECK(dds_reader_get_batch(reader, indices, 3, &target, 1, 1000, &error) == DDS_INVALID_ARGUMENT);
    CHECK(strstr(error.text, "of field \"x\" is 0 or not finite") != NULL);
  }
  if (ragged) { /* of int64, and of text */
    int64_t offsets[4];
    for (int field = 1; field < 3; field++) {
      target = (struct dds_target){.field = field, .offsets = offsets, .cast = DDS_FLOAT32, .scale = 1};
      CHECK(dds_reader_get_batch(reader, indices, 3, &target, 1, 1000, &error) == DDS_INVALID_ARGUMENT);
    }
  }
  dds_reader_close(reader);
}

static void *new_capsule(void *pointer, const char *name, void (*destructor)(void *)) {
  void **capsule = calloc(3, sizeof *capsule);
  CHECK(capsule != NULL);
  capsule[0] = pointer;
  capsule[1] = strdup(name);
  memcpy(&capsule[2], &destructor, sizeof destructor);
  return capsule;
}

static void *pointer_of(void *capsule, const char *name) {
  CHECK(strcmp(((void **)capsule)[1], name) == 0);
  return ((void **)capsule)[0];
}

static void destroy(void *capsule) {
  void (*destructor)(void *);
  memcpy(&destructor, (void **)capsule + 2, sizeof destructor);
  destructor(capsule);
  free(((void **)capsule)[1]);
  free(capsule);
}

/* Several exports of one batch: a child that is moved out of its array, capsules that nobody takes, no rows. */
static void shares_memory_by_arrow(void) {
  struct dds_reader *reader = open_reader();
  const int fields[] = {0, 2, 1};
  const size_t count = ragged ? 3 : 1;
  int64_t indices[300];
  for (int64_t i = 0; i < 300; i++) {
    indices[i] = i;
  }
  for (size_t rows = 0; rows <= 300; rows += 100) { /* memory for values first is too small, then guessed */
    struct dds_arrow *batch;
    struct ArrowSchema schema;
    struct ArrowArray array;
    struct ArrowArray again;
    CHECK(dds_arrow_read(reader, indices, rows, fields, count, 1000, &batch, &error) == DDS_OK);
    CHECK(dds_arrow_schema(batch, &schema, &error) == DDS_OK && dds_arrow_array(batch, &array, &error) == DDS_OK);
    CHECK(dds_arrow_array(batch, &again, &error) == DDS_OK);
    dds_arrow_use_python(new_capsule, pointer_of);
    void *capsules[] = {dds_arrow_schema_capsule(batch), dds_arrow_array_capsule(batch),
                        dds_arrow_array_capsule(batch)};
    dds_arrow_close(batch);
    again.release(&again);
    CHECK(again.release == NULL);
    CHECK(strcmp(schema.format, "+s") == 0 && strcmp(schema.children[0]->format, "+w:2") == 0);
    CHECK(strcmp(schema.children[0]->name, "x") == 0 && strcmp(schema.children[0]->children[0]->format, "f") == 0);
    CHECK(array.length == (int64_t)rows && array.n_children == (int64_t)count && array.null_count == 0);
    const struct ArrowArray *x = array.children[0]->children[0];
    CHECK(x->length == 2 * (int64_t)rows && (uintptr_t)x->buffers[1] % 64 == 0);
    for (size_t i = 0; i < rows; i++) {
      CHECK(((const float *)x->buffers[1])[2 * i + 1] == -(float)i);
    }
    if (ragged) {
      CHECK(strcmp(schema.children[1]->format, "U") == 0 && strcmp(schema.children[2]->format, "+L") == 0);
      CHECK(array.children[1]->n_buffers == 3);
      struct ArrowArray words = *array.children[2];
      array.children[2]->release = NULL; /* moved */
      array.release(&array);
      const int64_t *offsets = words.buffers[1];
      CHECK(words.children[0]->length == offsets[rows]);
      for (int64_t i = 0; i < (int64_t)rows; i++) {
        CHECK(offsets[i + 1] - offsets[i] == i % 7);
        CHECK(i % 7 == 0 || ((const int64_t *)words.children[0]->buffers[1])[offsets[i]] == i * 10);
      }
      words.release(&words);
    } else {
      array.release(&array);
    }
    schema.release(&schema);
    struct ArrowArray *taken = pointer_of(capsules[2], "arrow_array");
    taken->release(taken);
    for (int c = 0; c < 3; c++) {
      destroy(capsules[c]);
    }
  }
  struct dds_arrow *batch;
  const int64_t outside = 300;
  const int wrong[] = {9, 0, 0, 0};
  CHECK(dds_arrow_read(reader, &outside, 1, fields, count, 1000, &batch, &error) == DDS_INVALID_ARGUMENT);
  CHECK(batch == NULL && strstr(error.text, "outside [0, 300)") != NULL);
  CHECK(dds_arrow_read(reader, indices, 1, wrong, 1, 1000, &batch, &error) == DDS_INVALID_ARGUMENT);
  CHECK(dds_arrow_read(reader, indices, 1, wrong, 4, 1000, &batch, &error) == DDS_INVALID_ARGUMENT);
  CHECK(dds_arrow_read(reader, indices, 1, NULL, 1, 1000, &batch, &error) == DDS_INVALID_ARGUMENT);
  dds_arrow_close(NULL);
  dds_reader_close(reader);
}

/* Writes number i of a type to memory of any alignment; returns it as a float. */
static float put_number(enum dds_dtype dtype, int i, uint8_t *to) {
  const int32_t whole = (int32_t)((uint32_t)i * 77777777u);
  const float third = (float)i / 3;
  const double wide = i / 3.0 * 1e30;
  uint32_t bits;
  float half;
  switch (dtype) {
    case DDS_INT8:
      memcpy(to, &whole, 1);
      return (int8_t)whole;
    case DDS_UINT8:
      memcpy(to, &whole, 1);
      return (uint8_t)whole;
    case DDS_INT16:
      memcpy(to, &whole, 2);
      return (int16_t)whole;
    case DDS_INT32:
      memcpy(to, &whole, 4);
      return (float)whole;
    case DDS_BFLOAT16:
      memcpy(&bits, &third, sizeof bits);
      bits &= 0xffff0000;
      memcpy(to, (uint8_t *)&bits + 2, 2);
      memcpy(&half, &bits, sizeof half);
      return half;
    case DDS_FLOAT32:
      memcpy(to, &third, 4);
      return third;
    default:
      memcpy(to, &wide, 8);
      return (float)wide;
  }
}

/* Of every type, at every alignment, in several blocks. */
static void casts_every_type(void) {
  enum { COUNT = 5000 };
  static uint8_t values[8 * COUNT + 8];
  static uint8_t results[4 * COUNT + 8];
  static float expected[COUNT];
  for (enum dds_dtype from = DDS_BOOL; from <= DDS_FLOAT64; from++) {
    if (!dds_can_cast(from, DDS_FLOAT32)) {
      CHECK(from == DDS_BOOL || from == DDS_INT64 || from == DDS_FLOAT16);
      continue;
    }
    for (int i = 0; i < COUNT; i++) {
      expected[i] = put_number(from, i, values + 1 + dds_dtype_bytes(from) * (size_t)i) * 0.25f;
    }
    dds_cast(from, DDS_FLOAT32, 0.25f, values + 1, results + 3, COUNT);
    CHECK(memcmp(results + 3, expected, sizeof expected) == 0);
  }
  const uint32_t nan = 0x7f800001; /* whose upper half alone would be infinite */
  uint16_t half;
  dds_cast(DDS_FLOAT32, DDS_BFLOAT16, 1, &nan, &half, 1);
  CHECK((half & 0x7f80) == 0x7f80 && (half & 0x7f) != 0);
}

/* A handle in a file that its driver replaces. */
static void follows_a_file(void) {
  char path[] = "/dev/shm/handle-XXXXXX";
  int file = mkstemp(path);
  CHECK(file >= 0 && write(file, json, strlen(json)) == (ssize_t)strlen(json));
  struct dds_reader *reader;
  int changed = 7;
  int64_t row = SEGMENTS * ROWS - 1;
  float x[2];
  struct dds_target target = {.values = x, .value_bytes = sizeof x};
  CHECK(dds_reader_open_file(path, 0, &reader, &error) == DDS_OK);
  CHECK(dds_reader_get_batch(reader, &row, 1, &target, 1, 1000, &error) == DDS_OK);
  CHECK(dds_reader_refresh(reader, &changed, &error) == DDS_OK && changed == 0);
  char *state = strstr(json, "\"state\":1");
  state[8] = '2';
  CHECK(pwrite(file, json, strlen(json), 0) == (ssize_t)strlen(json));
  CHECK(dds_reader_refresh(reader, &changed, &error) == DDS_OK && changed == 1);
  CHECK(dds_reader_get_batch(reader, &row, 1, &target, 1, 1000, &error) == DDS_OK && x[0] == (float)row);
  CHECK(dds_reader_reach(reader).mapped_rows == 2);
  char *field = strstr(json, "\"name\":\"x\"");
  field[8] = 'y';
  CHECK(pwrite(file, json, strlen(json), 0) == (ssize_t)strlen(json));
  CHECK(dds_reader_refresh(reader, &changed, &error) != DDS_OK);
  CHECK(ftruncate(file, 100) == 0 && dds_reader_refresh(reader, NULL, &error) == DDS_INVALID_HANDLE);
  CHECK(unlink(path) == 0 && dds_reader_refresh(reader, NULL, &error) == DDS_SYSTEM);
  CHECK(strstr(error.text, "No such file") != NULL);
  CHECK(dds_reader_get_batch(reader, &row, 1, &target, 1, 1000, &error) == DDS_OK); /* as before */
  dds_reader_close(reader);
  field[8] = 'x';
  state[8] = '1';
  close(file);
  CHECK(dds_reader_open_file("/dev/shm", 0, &reader, &error) == DDS_SYSTEM);
  CHECK(dds_reader_open_file("/dev/zero", 0, &reader, &error) == DDS_SYSTEM);
  reader = open_reader();
  CHECK(dds_reader_refresh(reader, NULL, &error) == DDS_INVALID_ARGUMENT);
  dds_reader_close(reader);
}

static void poke(int segment, off_t at, uint64_t value) {
  char path[300];
  snprintf(path, sizeof path, "%s/segment%d", directory, segment);
  int file = open(path, O_WRONLY);
  CHECK(file >= 0 && pwrite(file, &value, sizeof value, at) == sizeof value && close(file) == 0);
}

static void notices_changes_and_the_end(void) {
  struct dds_reader *reader = open_reader();
  int64_t row = 150;
  float x[2];
  struct dds_target target = {.values = x, .value_bytes = sizeof x};
  poke(1, 64, 5);
  CHECK(dds_reader_get_batch(reader, &row, 1, &target, 1, 30, &error) == DDS_DEADLINE);
  row = 50;
  CHECK(dds_reader_get_batch(reader, &row, 1, &target, 1, 30, &error) == DDS_OK); /* of another segment */
  poke(1, 80, 1);
  row = 150;
  CHECK(dds_reader_get_batch(reader, &row, 1, &target, 1, 30, &error) == DDS_STORE_GONE);
  CHECK(strstr(error.text, "store \"train\" is gone") != NULL);
  CHECK(dds_reader_reach(reader).mapped_segments == 0);
  row = 50;
  CHECK(dds_reader_get_batch(reader, &row, 1, &target, 1, 30, &error) == DDS_STORE_GONE);
  dds_reader_close(reader);
}

/* Files that are not what the handle says are not mapped. */
static void maps_nothing_else(void) {
  const struct {
    off_t at;
    uint64_t value;
  } damages[] = {{0, 1},  {8, 3},   {12, 1 << 30}, {16, 1}, {24, 1}, {32, 1},
                 {40, 1}, {48, 77}, {56, 1},       {72, 1}, {130, 1}};
  for (size_t d = 0; d < sizeof damages / sizeof damages[0]; d++) {
    write_store(ragged);
    poke(1, damages[d].at, damages[d].value);
    struct dds_reader *reader;
    CHECK(dds_reader_open(json, strlen(json), 0, &reader, &error) == DDS_LOST);
    CHECK(strstr(error.text, "rows [100, 200) of store") != NULL && strstr(error.text, "this is a test") != NULL);
  }
  write_store(ragged);
  struct dds_reader *reader;
  CHECK(dds_reader_open(json, strlen(json), DDS_PORTS_ONLY, &reader, &error) == DDS_LOST);
  CHECK(chmod(directory, 0755) == 0);
  CHECK(dds_reader_open(json, strlen(json), 0, &reader, &error) == DDS_LOST);
  CHECK(strstr(error.text, "other users can write its directory") != NULL);
  CHECK(chmod(directory, 0700) == 0);
  char *path = strstr(json, "/dev/shm/ddstore-");
  memcpy(path, "/dev/shm/xxxxxxx-", 17);
  CHECK(dds_reader_open(json, strlen(json), 0, &reader, &error) == DDS_LOST);
  CHECK(strstr(error.text, "not one of this user and host") != NULL);
}

static int keys_freed;

static void *zeros(size_t bytes) {
  return calloc(1, bytes);
}

static void look_and_free(void *memory) {
  if (memory != NULL && memmem(memory, malloc_usable_size(memory), KEY, 20) != NULL) {
    keys_freed++;
  }
  free(memory);
}

/* The parser of JSON frees memory as it is. */
static void parser_never_has_the_key(void) {
  json_set_alloc_funcs(zeros, look_and_free);
  dds_reader_close(open_reader());
  char *key = strstr(json, KEY);
  key[63] = '-';
  struct dds_reader *reader;
  CHECK(dds_reader_open(json, strlen(json), 0, &reader, &error) == DDS_INVALID_HANDLE);
  CHECK(strstr(error.text, "key: not 64 hexadecimal digits") != NULL);
  key[63] = KEY[63];
  json_set_alloc_funcs(malloc, free);
  CHECK(keys_freed == 0);
}

static void refuses_other_texts(void) {
  write_store(ragged);
  struct dds_reader *reader = NULL;
  size_t length = strlen(json);
  unsigned seed = 7;
  for (size_t cut = 0; cut < length; cut += 13) { /* too short */
    CHECK(dds_reader_open(json, cut, 0, &reader, &error) == DDS_INVALID_HANDLE);
  }
  char *damaged = malloc(length + 1);
  CHECK(damaged != NULL);
  for (int i = 0; i < 3000; i++) {
    memcpy(damaged, json, length + 1);
    for (int n = 0; n < 1 + i % 3; n++) {
      damaged[rand_r(&seed) % length] = "0123456789[]{}\",:-az"[rand_r(&seed) % 20];
    }
    reader = NULL;
    int code = dds_reader_open(damaged, length, 0, &reader, &error);
    CHECK(code == DDS_OK || code == DDS_INVALID_HANDLE || code == DDS_LOST);
    CHECK((code == DDS_OK) == (reader != NULL) && (code == DDS_OK || error.text[0] != '\0'));
    dds_reader_close(reader);
  }
  free(damaged);
  CHECK(dds_reader_open(NULL, 0, 0, &reader, &error) == DDS_INVALID_ARGUMENT);
  CHECK(dds_reader_open(json, length, 8, &reader, NULL) == DDS_INVALID_ARGUMENT);
  dds_reader_close(NULL);
}

int main(void) {
  snprintf(directory, sizeof directory, "/dev/shm/ddstore-%lu-%016" PRIx64 "-%ld-test", (unsigned long)geteuid(),
           dds_boot_id(), (long)getpid());
  CHECK(mkdir(directory, 0700) == 0);
  casts_every_type();
  for (int is_ragged = 0; is_ragged < 2; is_ragged++) {
    write_store(is_ragged);
    reads_every_row();
    casts();
    shares_memory_by_arrow();
    follows_a_file();
    notices_changes_and_the_end();
    maps_nothing_else();
    write_store(is_ragged);
    parser_never_has_the_key();
    refuses_other_texts();
  }
  for (int s = 0; s < SEGMENTS; s++) {
    char path[300];
    snprintf(path, sizeof path, "%s/segment%d", directory, s);
    CHECK(unlink(path) == 0);
    strcat(path, ".offsets");
    CHECK(unlink(path) == 0);
  }
  CHECK(rmdir(directory) == 0);
  return 0;
}
