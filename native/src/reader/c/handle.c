// SPDX-License-Identifier: Apache-2.0
#include "handle.h"

#include <jansson.h>
#include <limits.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cast.h"

#define MOST_TEXT 1000
#define MOST_PATH 4096
#define MOST_HOST 255
#define MOST_FIELDS 65535
#define MOST_RECORD ((int64_t)1 << 30)
#define KEY_DIGITS (2 * DDS_KEY_BYTES)

/* Makes a text, which others may have had a part in, one line of whole characters. */
static void make_line(char *text) {
  char *end = text;
  char *last = text; /* begin of the last character */
  for (; *end != '\0'; end++) {
    if ((unsigned char)*end < ' ' || *end == 0x7f) {
      *end = ' ';
    }
    last = (*end & 0xc0) == 0x80 ? last : end;
  }
  unsigned char first = (unsigned char)*last;
  ptrdiff_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  if (end - last < bytes) {
    *last = '\0'; /* it was cut */
  }
}

int dds_fail(struct dds_error *error, int code, const char *format, ...) {
  if (error != NULL) {
    va_list values;
    va_start(values, format);
    error->code = code;
    vsnprintf(error->text, sizeof error->text, format, values);
    va_end(values);
    make_line(error->text);
  }
  return code;
}

/*
 * The state of the parser: the first problem is kept.
 *
 * text  the handle itself; the parser of JSON gets a copy without keys, see mask_keys
 */
struct parser {
  const char *text;
  size_t bytes;
  struct dds_error *error;
  int code;
};

static void illegal(struct parser *parser, const char *member, const char *problem) {
  if (parser->code == DDS_OK) {
    parser->code = dds_fail(parser->error, DDS_INVALID_HANDLE, "handle: %s: %s", member, problem);
  }
}

static void *get_memory(struct parser *parser, size_t count, size_t size) {
  void *memory = calloc(count + 1, size);
  if (memory == NULL && parser->code == DDS_OK) {
    parser->code = dds_fail(parser->error, DDS_OUT_OF_MEMORY, "no memory for the handle");
  }
  return memory;
}

static int64_t number_of(struct parser *parser, const json_t *object, const char *member, int64_t min, int64_t max) {
  const json_t *value = json_object_get(object, member);
  if (!json_is_integer(value)) {
    illegal(parser, member, "no whole number");
    return min;
  }
  int64_t number = json_integer_value(value);
  if (number < min || number > max) {
    illegal(parser, member, "outside of its range");
    return min;
  }
  return number;
}

/* Returns the text of a member, or "" after an error; texts with a zero byte are refused by the JSON parser. */
static const char *text_of(struct parser *parser, const json_t *object, const char *member, size_t most) {
  const json_t *value = json_object_get(object, member);
  if (!json_is_string(value)) {
    illegal(parser, member, "no text");
    return "";
  }
  if (json_string_length(value) > most) {
    illegal(parser, member, "too long");
    return "";
  }
  return json_string_value(value);
}

static char *copy_of(struct parser *parser, const char *text) {
  char *copy = get_memory(parser, strlen(text), 1);
  if (copy != NULL) {
    memcpy(copy, text, strlen(text));
  }
  return copy;
}

static const json_t *array_of(struct parser *parser, const json_t *object, const char *member) {
  const json_t *value = json_object_get(object, member);
  if (!json_is_array(value)) {
    illegal(parser, member, "no array");
    return NULL;
  }
  return value;
}

static int digit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns whether there are so many hexadecimal digits; then to has their bytes. */
static int read_hex(const char *text, uint8_t *to, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) {
    int high = digit(text[2 * i]);
    int low = high < 0 ? -1 : digit(text[2 * i + 1]);
    if (low < 0) {
      return 0;
    }
    to[i] = (uint8_t)(high << 4 | low);
  }
  return 1;
}

static void hex_of(struct parser *parser, const json_t *object, const char *member, uint8_t *to, size_t bytes) {
  const char *text = text_of(parser, object, member, 2 * bytes);
  if (strlen(text) != 2 * bytes || !read_hex(text, to, bytes)) {
    memset(to, 0, bytes);
    illegal(parser, member, "not the right number of hexadecimal digits");
  }
}

static uint64_t bits_of(struct parser *parser, const json_t *object, const char *member) {
  uint8_t bytes[8];
  uint64_t bits = 0;
  hex_of(parser, object, member, bytes, sizeof bytes);
  for (size_t i = 0; i < sizeof bytes; i++) {
    bits = bits << 8 | bytes[i];
  }
  return bits;
}

static int choice_of(struct parser *parser, const json_t *object, const char *member, const char *const *names,
                     int count) {
  const char *text = text_of(parser, object, member, 20);
  for (int i = 0; i < count; i++) {
    if (strcmp(text, names[i]) == 0) {
      return i + 1;
    }
  }
  illegal(parser, member, "unknown");
  return 1;
}

static const char *const KINDS[] = {"fixed", "ragged", "string", "bytes"};
static const char *const DTYPES[] = {"bool",  "int8",    "uint8",    "int16",   "int32",
                                     "int64", "float16", "bfloat16", "float32", "float64"};

static void parse_field(struct parser *parser, const json_t *json, struct dds_field_info *field) {
  field->name = copy_of(parser, text_of(parser, json, "name", MOST_TEXT));
  if (field->name != NULL && field->name[0] == '\0') {
    illegal(parser, "name", "a field without a name");
  }
  field->kind = (enum dds_kind)choice_of(parser, json, "kind", KINDS, 4);
  field->dtype = (enum dds_dtype)choice_of(parser, json, "dtype", DTYPES, 10);
  field->element_bytes = (int64_t)dds_dtype_bytes(field->dtype);
  const json_t *shape = array_of(parser, json, "shape");
  size_t dimensions = json_array_size(shape);
  if (dimensions > DDS_MAX_DIMENSIONS) {
    illegal(parser, "shape", "more than 8 dimensions");
    return;
  }
  if (field->kind >= DDS_STRING && (dimensions > 0 || field->dtype != DDS_UINT8)) {
    illegal(parser, "shape", "texts and bytes have none, and the type uint8");
    return;
  }
  field->dimensions = (int)dimensions;
  for (size_t d = 0; d < dimensions; d++) {
    const json_t *value = json_array_get(shape, d);
    int64_t size = json_is_integer(value) ? json_integer_value(value) : 0;
    if (size < 1 || size > MOST_RECORD / field->element_bytes) {
      illegal(parser, "shape", "a dimension is outside of its range");
      return;
    }
    field->shape[d] = size;
    field->element_bytes *= size;
  }
}

static void parse_fields(struct parser *parser, const json_t *json, struct dds_handle *handle) {
  const json_t *fields = array_of(parser, json, "fields");
  size_t count = json_array_size(fields);
  if (count < 1 || count > MOST_FIELDS) {
    illegal(parser, "fields", "not 1 to 65,535");
    return;
  }
  handle->fields = get_memory(parser, count, sizeof *handle->fields);
  int64_t fixed = 0;
  int ragged = 0;
  for (size_t f = 0; parser->code == DDS_OK && f < count; f++) {
    handle->field_count = (int)f + 1;
    parse_field(parser, json_array_get(fields, f), &handle->fields[f]);
    ragged |= handle->fields[f].kind != DDS_FIXED;
    fixed += handle->fields[f].kind == DDS_FIXED ? handle->fields[f].element_bytes : 4;
    if (fixed > MOST_RECORD) {
      illegal(parser, "fields", "a record of more than 1 GiB");
    }
  }
  handle->record_bytes = ragged ? 0 : fixed;
  number_of(parser, json, "recordBytes", handle->record_bytes, handle->record_bytes);
}

static void parse_processes(struct parser *parser, const json_t *json, struct dds_handle *handle) {
  const json_t *processes = array_of(parser, json, "processes");
  size_t count = json_array_size(processes);
  handle->processes = get_memory(parser, count, sizeof *handle->processes);
  for (size_t p = 0; parser->code == DDS_OK && p < count; p++) {
    const json_t *process = json_array_get(processes, p);
    const char *host = text_of(parser, process, "host", MOST_HOST);
    if (host[0] == '\0' ||
        strspn(host, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:%-") != strlen(host)) {
      illegal(parser, "host", "no name or address");
    }
    handle->process_count = p + 1;
    handle->processes[p] = (struct dds_process){.host = copy_of(parser, host),
                                                .port = (int)number_of(parser, process, "port", 1, 65535),
                                                .id = bits_of(parser, process, "id")};
  }
}

static void parse_segment(struct parser *parser, const json_t *json, const struct dds_handle *handle,
                          int64_t most_bytes, struct dds_segment_info *segment) {
  segment->rows = number_of(parser, json, "rows", 0, handle->rows);
  segment->bytes = number_of(parser, json, "bytes", 0, most_bytes);
  hex_of(parser, json, "nonce", segment->nonce, sizeof segment->nonce);
  segment->boot = bits_of(parser, json, "boot");
  if (!json_is_null(json_object_get(json, "path"))) {
    segment->path = copy_of(parser, text_of(parser, json, "path", MOST_PATH));
  }
  segment->process = json_is_null(json_object_get(json, "process"))
                         ? -1
                         : (int)number_of(parser, json, "process", 0, (int64_t)handle->process_count - 1);
}

static void parse_copies(struct parser *parser, const json_t *json, struct dds_handle *handle) {
  const json_t *copies = array_of(parser, json, "copies");
  size_t count = json_array_size(copies);
  size_t segments = json_array_size(json_array_get(copies, 0));
  if (count < 1 || segments < 1 || segments > INT_MAX) {
    illegal(parser, "copies", "none, or one without segments");
    return;
  }
  handle->copies = get_memory(parser, count, sizeof *handle->copies);
  handle->segment_count = segments;
  for (size_t c = 0; parser->code == DDS_OK && c < count; c++) {
    const json_t *copy = json_array_get(copies, c);
    if (!json_is_array(copy) || json_array_size(copy) != segments) {
      illegal(parser, "copies", "they differ in the number of segments");
      return;
    }
    handle->copy_count = c + 1;
    handle->copies[c].segments = get_memory(parser, segments, sizeof *handle->copies[c].segments);
    int64_t first = 0;
    int64_t bytes_left = INT64_MAX;
    for (size_t s = 0; parser->code == DDS_OK && s < segments; s++) {
      struct dds_segment_info *segment = &handle->copies[c].segments[s];
      const json_t *entry = json_array_get(copy, s);
      segment->first_row = number_of(parser, entry, "firstRow", first, first);
      parse_segment(parser, entry, handle, bytes_left, segment);
      bytes_left -= segment->bytes;
      if (segment->rows > handle->rows - first) {
        illegal(parser, "copies", "more rows than the store has");
        return;
      }
      first += segment->rows;
      if (c > 0 && segment->rows != handle->copies[0].segments[s].rows) {
        illegal(parser, "copies", "they differ in the rows of a segment");
      }
    }
    if (parser->code == DDS_OK && first != handle->rows) {
      illegal(parser, "copies", "fewer rows than the store has");
    }
  }
}

static size_t skip_spaces(const char *text, size_t bytes, size_t at) {
  while (at < bytes && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r')) {
    at++;
  }
  return at;
}

/* Returns the position of the digits, if a text has the member "key" at a position and its value can be one; else 0. */
static size_t find_key(const char *text, size_t bytes, size_t at) {
  static const char NAME[] = "\"key\"";
  if (bytes - at < sizeof NAME || memcmp(text + at, NAME, sizeof NAME - 1) != 0) {
    return 0;
  }
  at = skip_spaces(text, bytes, at + sizeof NAME - 1);
  if (at == bytes || text[at] != ':') {
    return 0;
  }
  at = skip_spaces(text, bytes, at + 1);
  return bytes - at > KEY_DIGITS + 1 && text[at] == '"' && text[at + 1 + KEY_DIGITS] == '"' ? at + 1 : 0;
}

/*
 * Copies a text, with the position of each key in place of its digits: the parser of JSON frees its copies of a text
 * without overwriting them.
 */
static char *mask_keys(const char *text, size_t bytes) {
  char *masked = malloc(bytes + 1);
  for (size_t at = 0, key; masked != NULL && at < bytes; at++) {
    masked[at] = text[at];
    if (text[at] == '"' && (key = find_key(text, bytes, at)) > 0) {
      memcpy(masked + at, text + at, key - at);
      snprintf(masked + key, KEY_DIGITS + 1, "%0*zu", KEY_DIGITS, key);
      at = key + KEY_DIGITS - 1;
    }
  }
  return masked;
}

/* Reads the key at the position that is in its place. */
static void key_of(struct parser *parser, const json_t *grant, uint8_t *key) {
  const char *masked = text_of(parser, grant, "key", KEY_DIGITS);
  size_t at = strlen(masked) == KEY_DIGITS ? (size_t)strtoull(masked, NULL, 10) : 0;
  if (at == 0 || at >= parser->bytes || parser->bytes - at <= KEY_DIGITS ||
      !read_hex(parser->text + at, key, DDS_KEY_BYTES)) {
    illegal(parser, "key", "not 64 hexadecimal digits");
  }
}

static void parse_grant(struct parser *parser, const json_t *json, struct dds_handle *handle) {
  const json_t *grant = json_object_get(json, "grant");
  const char *label = text_of(parser, grant, "label", 64);
  int64_t end = json_is_null(json_object_get(grant, "expiresMs"))
                    ? INT64_MAX
                    : number_of(parser, grant, "expiresMs", 0, INT64_MAX - 1);
  key_of(parser, grant, handle->key);
  size_t length = strlen(label);
  if (length < 1 || strspn(label, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") != length) {
    illegal(parser, "label", "not 1 to 64 letters, digits, dots, underscores and hyphens");
    return;
  }
  handle->label = copy_of(parser, label);
  uint8_t *to = handle->claims;
  *to++ = 1;
  memcpy(to, handle->store, DDS_ID_BYTES);
  to += DDS_ID_BYTES;
  for (int shift = 56; shift >= 0; shift -= 8) {
    *to++ = (uint8_t)((uint64_t)end >> shift);
  }
  memcpy(to, label, length);
  handle->claims_bytes = 1 + DDS_ID_BYTES + 8 + length;
}

static void parse(struct parser *parser, const json_t *json, struct dds_handle *handle) {
  if (strcmp(text_of(parser, json, "format", 100), "ddstore-handle") != 0) {
    illegal(parser, "format", "not \"ddstore-handle\"");
  }
  int64_t version = number_of(parser, json, "version", 0, INT_MAX);
  if (parser->code == DDS_OK && version != 1) {
    parser->code = dds_fail(parser->error, DDS_INVALID_HANDLE, "handle of version %lld: this release reads version 1",
                            (long long)version);
  }
  handle->name = copy_of(parser, text_of(parser, json, "name", MOST_TEXT));
  hex_of(parser, json, "store", handle->store, sizeof handle->store);
  handle->state = number_of(parser, json, "state", 0, INT64_MAX);
  handle->rows = number_of(parser, json, "rows", 0, INT64_MAX);
  handle->digest = copy_of(parser, json_object_get(json, "digest") == NULL ? "" : text_of(parser, json, "digest", 32));
  if (json_object_get(json, "noPort") != NULL) {
    handle->no_port = copy_of(parser, text_of(parser, json, "noPort", MOST_TEXT));
  }
  parse_fields(parser, json, handle);
  parse_processes(parser, json, handle);
  parse_copies(parser, json, handle);
  parse_grant(parser, json, handle);
}

int dds_handle_parse(const char *json, size_t bytes, struct dds_handle **handle, struct dds_error *error) {
  if (bytes > DDS_MOST_HANDLE) {
    return dds_fail(error, DDS_INVALID_HANDLE, "a handle of %zu bytes: at most %zu are legal", bytes, DDS_MOST_HANDLE);
  }
  char *masked = mask_keys(json, bytes);
  if (masked == NULL) {
    return dds_fail(error, DDS_OUT_OF_MEMORY, "no memory for the handle");
  }
  json_error_t problem;
  json_t *root = json_loadb(masked, bytes, JSON_REJECT_DUPLICATES, &problem);
  free(masked);
  if (root == NULL) { /* its text can show a part of the handle */
    return dds_fail(error, DDS_INVALID_HANDLE, "this is no handle of a store: no JSON at line %d, column %d",
                    problem.line, problem.column);
  }
  struct parser parser = {.text = json, .bytes = bytes, .error = error, .code = DDS_OK};
  struct dds_handle *parsed = get_memory(&parser, 1, sizeof *parsed);
  if (parsed != NULL) {
    parse(&parser, root, parsed);
  }
  json_decref(root);
  if (parser.code != DDS_OK) {
    dds_handle_free(parsed);
    return parser.code;
  }
  *handle = parsed;
  return DDS_OK;
}

void dds_handle_free(struct dds_handle *handle) {
  if (handle == NULL) {
    return;
  }
  for (int f = 0; f < handle->field_count; f++) {
    free((char *)handle->fields[f].name);
  }
  for (size_t p = 0; p < handle->process_count; p++) {
    free(handle->processes[p].host);
  }
  for (size_t c = 0; c < handle->copy_count; c++) {
    for (size_t s = 0; handle->copies[c].segments != NULL && s < handle->segment_count; s++) {
      free(handle->copies[c].segments[s].path);
    }
    free(handle->copies[c].segments);
  }
  sodium_memzero(handle->key, sizeof handle->key);
  free(handle->fields);
  free(handle->processes);
  free(handle->copies);
  free(handle->name);
  free(handle->digest);
  free(handle->no_port);
  free(handle->label);
  free(handle);
}
