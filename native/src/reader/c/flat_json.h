// SPDX-License-Identifier: Apache-2.0
/*
 * A JSON object (RFC 8259) whose members are texts and whole numbers, as states need. Accepts exactly the texts that
 * FlatJson in Java accepts, which jansson does not: a repeated name, a leading zero and a control character are legal.
 */
#ifndef DDS_FLAT_JSON_H
#define DDS_FLAT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ddstore_reader.h"

/* A text that grows. bytes ends with a zero byte; it is NULL before the first append. */
struct dds_text {
  char *bytes;
  size_t length;
  size_t capacity;
  bool failed; /* no memory: the text is incomplete */
};

void dds_text_append(struct dds_text *text, const char *bytes, size_t length);

__attribute__((format(printf, 2, 3))) void dds_text_print(struct dds_text *text, const char *format, ...);

/* text: of length bytes, NULL for a number. It can contain zero bytes. */
struct dds_member {
  char *name;
  size_t name_length;
  char *text;
  size_t length;
  int64_t number;
};

struct dds_members {
  struct dds_member *all;
  size_t count;
  size_t capacity;
};

/* Parses an object; the members are to be freed also after an error. */
int dds_flat_json_parse(const char *json, size_t bytes, struct dds_members *members, struct dds_error *error);

void dds_members_free(struct dds_members *members);

/* Returns a member; NULL if there is none of this name. */
const struct dds_member *dds_members_find(const struct dds_members *members, const char *name);

/* Appends a text in quotation marks. */
void dds_flat_json_quote(struct dds_text *json, const char *text, size_t length);

/* Appends a number, or a text if text is not NULL, as a member of an object that begins with a brace. */
void dds_flat_json_member(struct dds_text *json, const struct dds_member *member);

/* Sets an error whose last words show a text, which can be hostile, on one line; returns its code. */
int dds_fail_with_text(struct dds_error *error, const char *problem, const char *text, size_t length);

#endif
