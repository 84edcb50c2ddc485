// SPDX-License-Identifier: Apache-2.0
#include "flat_json.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "handle.h"

static bool reserve(struct dds_text *text, size_t more) {
  size_t needed = text->length + more + 1;
  if (!text->failed && needed > text->capacity) {
    size_t capacity = 2 * needed;
    char *bytes = realloc(text->bytes, capacity);
    text->failed = bytes == NULL;
    if (bytes != NULL) {
      text->bytes = bytes;
      text->capacity = capacity;
    }
  }
  return !text->failed;
}

void dds_text_append(struct dds_text *text, const char *bytes, size_t length) {
  if (reserve(text, length)) {
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
  }
}

void dds_text_print(struct dds_text *text, const char *format, ...) {
  va_list values;
  va_start(values, format);
  int length = vsnprintf(NULL, 0, format, values);
  va_end(values);
  if (length >= 0 && reserve(text, (size_t)length)) {
    va_start(values, format);
    vsnprintf(text->bytes + text->length, (size_t)length + 1, format, values);
    va_end(values);
    text->length += (size_t)length;
  }
}

void dds_flat_json_quote(struct dds_text *json, const char *text, size_t length) {
  dds_text_append(json, "\"", 1);
  for (size_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c == '"' || c == '\\') {
      dds_text_append(json, "\\", 1);
      dds_text_append(json, &text[i], 1);
    } else if (c < ' ') {
      dds_text_print(json, "\\u%04x", c);
    } else {
      dds_text_append(json, &text[i], 1);
    }
  }
  dds_text_append(json, "\"", 1);
}

void dds_flat_json_member(struct dds_text *json, const struct dds_member *member) {
  if (json->length > 1) {
    dds_text_append(json, ",", 1);
  }
  dds_flat_json_quote(json, member->name, member->name_length);
  dds_text_append(json, ":", 1);
  if (member->text != NULL) {
    dds_flat_json_quote(json, member->text, member->length);
  } else {
    dds_text_print(json, "%" PRId64, member->number);
  }
}

int dds_fail_with_text(struct dds_error *error, const char *problem, const char *text, size_t length) {
  char shown[300];
  size_t used = length < sizeof shown - 1 ? length : sizeof shown - 1;
  while (used > 0 && used < length && ((unsigned char)text[used] & 0xC0) == 0x80) {
    used--; /* not within a character */
  }
  for (size_t i = 0; i < used; i++) {
    unsigned char c = (unsigned char)text[i];
    shown[i] = c < ' ' || c == 0x7f ? ' ' : text[i];
  }
  shown[used] = '\0';
  return dds_fail(error, DDS_INVALID_ARGUMENT, "%s%s", problem, shown);
}

void dds_members_free(struct dds_members *members) {
  for (size_t i = 0; i < members->count; i++) {
    free(members->all[i].name);
    free(members->all[i].text);
  }
  free(members->all);
  *members = (struct dds_members){0};
}

const struct dds_member *dds_members_find(const struct dds_members *members, const char *name) {
  for (size_t i = 0; i < members->count; i++) {
    if (members->all[i].name_length == strlen(name) && memcmp(members->all[i].name, name, strlen(name)) == 0) {
      return &members->all[i];
    }
  }
  return NULL;
}

struct parser {
  const char *text;
  size_t length;
  size_t at;
  bool refused;
};

/* Returns the next byte that is not white space; -1 at the end, and after an error. */
static int peek(struct parser *parser) {
  while (parser->at < parser->length && parser->text[parser->at] != '\0' &&
         strchr(" \t\r\n", parser->text[parser->at]) != NULL) {
    parser->at++;
  }
  return parser->at < parser->length && !parser->refused ? (unsigned char)parser->text[parser->at] : -1;
}

static void take(struct parser *parser, char c) {
  if (peek(parser) != c) {
    parser->refused = true;
    return;
  }
  parser->at++;
}

static int64_t parse_number(struct parser *parser) {
  size_t at = parser->at;
  bool negative = at < parser->length && parser->text[at] == '-';
  at += negative;
  uint64_t most = (uint64_t)INT64_MAX + negative;
  uint64_t number = 0;
  size_t first = at;
  for (; at < parser->length && parser->text[at] >= '0' && parser->text[at] <= '9'; at++) {
    uint64_t digit = (uint64_t)(parser->text[at] - '0');
    if (number > (most - digit) / 10) {
      parser->refused = true;
      return 0;
    }
    number = 10 * number + digit;
  }
  if (at == first || (at < parser->length && parser->text[at] == '-')) {
    parser->refused = true;
    return 0;
  }
  parser->at = at;
  return negative ? (int64_t)(0 - number) : (int64_t)number;
}

static uint32_t parse_unit(struct parser *parser) {
  uint32_t unit = 0;
  for (int i = 0; i < 4; i++) {
    char c = parser->at < parser->length ? parser->text[parser->at] : '\0';
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
    if (digit < 0) {
      parser->refused = true;
      return 0;
    }
    unit = unit << 4 | (uint32_t)digit;
    parser->at++;
  }
  return unit;
}

static void append_character(struct dds_text *text, uint32_t code) {
  char bytes[4];
  size_t length;
  if (code < 0x80) {
    bytes[0] = (char)code;
    length = 1;
  } else if (code < 0x800) {
    bytes[0] = (char)(0xC0 | code >> 6);
    length = 2;
  } else if (code < 0x10000) {
    bytes[0] = (char)(0xE0 | code >> 12);
    length = 3;
  } else {
    bytes[0] = (char)(0xF0 | code >> 18);
    length = 4;
  }
  for (size_t i = 1; i < length; i++) {
    bytes[i] = (char)(0x80 | (code >> 6 * (length - 1 - i) & 0x3F));
  }
  dds_text_append(text, bytes, length);
}

/* Reads a character after \u; half of a surrogate pair alone becomes '?', as Java encodes it. */
static void parse_escaped_character(struct parser *parser, struct dds_text *text) {
  uint32_t unit = parse_unit(parser);
  if (unit >= 0xD800 && unit < 0xDC00 && parser->length - parser->at >= 6 && parser->text[parser->at] == '\\' &&
      parser->text[parser->at + 1] == 'u') {
    struct parser second = *parser;
    second.at += 2;
    uint32_t low = parse_unit(&second);
    if (!second.refused && low >= 0xDC00 && low < 0xE000) {
      parser->at = second.at;
      append_character(text, 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
      return;
    }
  }
  append_character(text, unit >= 0xD800 && unit < 0xE000 ? '?' : unit);
}

static void parse_escape(struct parser *parser, struct dds_text *text) {
  static const char NAMES[] = "\"\\/bfnrt";
  static const char CHARACTERS[] = "\"\\/\b\f\n\r\t";
  parser->at++;
  char c = parser->at < parser->length ? parser->text[parser->at] : '\0';
  const char *name = c == '\0' ? NULL : strchr(NAMES, c);
  parser->at += c != '\0';
  if (name != NULL) {
    dds_text_append(text, &CHARACTERS[name - NAMES], 1);
  } else if (c == 'u') {
    parse_escaped_character(parser, text);
  } else {
    parser->refused = true;
  }
}

static void parse_string(struct parser *parser, struct dds_text *text) {
  take(parser, '"');
  dds_text_append(text, "", 0);
  while (!parser->refused && parser->at < parser->length && parser->text[parser->at] != '"') {
    if (parser->text[parser->at] == '\\') {
      parse_escape(parser, text);
    } else {
      dds_text_append(text, &parser->text[parser->at++], 1);
    }
  }
  take(parser, '"');
}

/* Returns whether all bytes are UTF-8, without surrogates. */
static bool is_utf8(const char *text, size_t length) {
  for (size_t i = 0; i < length;) {
    unsigned char c = (unsigned char)text[i];
    size_t size = c < 0x80 ? 1 : c >= 0xC2 && c < 0xE0 ? 2 : c >= 0xE0 && c < 0xF0 ? 3 : c >= 0xF0 && c < 0xF5 ? 4 : 0;
    if (size == 0 || size > length - i) {
      return false;
    }
    for (size_t k = 1; k < size; k++) {
      if (((unsigned char)text[i + k] & 0xC0) != 0x80) {
        return false;
      }
    }
    unsigned char second = size > 1 ? (unsigned char)text[i + 1] : 0;
    if ((c == 0xE0 && second < 0xA0) || (c == 0xED && second >= 0xA0) || (c == 0xF0 && second < 0x90) ||
        (c == 0xF4 && second >= 0x90)) {
      return false;
    }
    i += size;
  }
  return true;
}

/* Keeps a member in place of one with the same name. Takes its memory. Returns false without memory. */
static bool put(struct dds_members *members, struct dds_member member) {
  for (size_t i = 0; i < members->count; i++) {
    struct dds_member *old = &members->all[i];
    if (old->name_length == member.name_length && memcmp(old->name, member.name, member.name_length) == 0) {
      free(old->name);
      free(old->text);
      *old = member;
      return true;
    }
  }
  if (members->count == members->capacity) {
    size_t capacity = 2 * members->capacity + 8;
    struct dds_member *all = realloc(members->all, capacity * sizeof *all);
    if (all == NULL) {
      free(member.name);
      free(member.text);
      return false;
    }
    members->all = all;
    members->capacity = capacity;
  }
  members->all[members->count++] = member;
  return true;
}

/* Parses a member. Returns false without memory. */
static bool parse_member(struct parser *parser, struct dds_members *members) {
  struct dds_text name = {0};
  struct dds_text value = {0};
  struct dds_member member = {0};
  parse_string(parser, &name);
  take(parser, ':');
  if (peek(parser) == '"') {
    parse_string(parser, &value);
  } else if (!parser->refused) {
    member.number = parse_number(parser);
  }
  if (name.failed || value.failed || parser->refused) {
    free(name.bytes);
    free(value.bytes);
    return !name.failed && !value.failed;
  }
  member.name = name.bytes;
  member.name_length = name.length;
  member.text = value.bytes;
  member.length = value.length;
  return put(members, member);
}

int dds_flat_json_parse(const char *json, size_t bytes, struct dds_members *members, struct dds_error *error) {
  *members = (struct dds_members){0};
  struct parser parser = {.text = json, .length = bytes, .refused = !is_utf8(json, bytes)};
  take(&parser, '{');
  for (bool first = true; !parser.refused && peek(&parser) != '}'; first = false) {
    if (!first) {
      take(&parser, ',');
    }
    if (!parser.refused && !parse_member(&parser, members)) {
      return dds_fail(error, DDS_OUT_OF_MEMORY, "no memory for a state of %zu bytes", bytes);
    }
  }
  take(&parser, '}');
  if (parser.refused || peek(&parser) != -1) {
    char problem[120];
    snprintf(problem, sizeof problem, "not a JSON object of texts and whole numbers at byte %zu of: ", parser.at);
    return dds_fail_with_text(error, problem, json, bytes);
  }
  return DDS_OK;
}
