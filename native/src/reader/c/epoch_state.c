// SPDX-License-Identifier: Apache-2.0
/* The position of a rank in an epoch as one line of JSON: EpochState and Delivery in Java. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flat_json.h"
#include "handle.h"

#define VERSION 2
#define VERSION_WITHOUT_CHECKSUM 1
#define CHECKSUM "c"
#define DIGEST_DIGITS 16
#define CHOICES 3
#define CHOICE_DIGITS 4
#define MOST_BYTES ((size_t)64 << 10)

static const char LETTERS[CHOICES] = {'f', 'c', 's'}; /* fields, casts, shapes */

static uint32_t crc32(uint32_t crc, const void *bytes, size_t length) {
  const uint8_t *at = bytes;
  crc = ~crc;
  for (size_t i = 0; i < length; i++) {
    crc ^= at[i];
    for (int bit = 0; bit < 8; bit++) {
      crc = crc >> 1 ^ (UINT32_C(0xEDB88320) & (0 - (crc & 1)));
    }
  }
  return ~crc;
}

static int no_memory(struct dds_error *error) {
  return dds_fail(error, DDS_OUT_OF_MEMORY, "no memory for a state");
}

/* Compares UTF-8 in the order of UTF-16, by which Java sorts: surrogates are below U+E000. */
static int by_utf16(const char *left, const char *right) {
  size_t i = 0;
  while (left[i] != '\0' && left[i] == right[i]) {
    i++;
  }
  unsigned char a = (unsigned char)left[i];
  unsigned char b = (unsigned char)right[i];
  if (a >= 0xEE && b >= 0xEE && (a >= 0xF0) != (b >= 0xF0)) {
    return a >= 0xF0 ? -1 : 1;
  }
  return a < b ? -1 : a > b;
}

static int compare_texts(const void *left, const void *right) {
  return by_utf16(*(const char *const *)left, *(const char *const *)right);
}

static int compare_members(const void *left, const void *right) {
  return by_utf16(((const struct dds_member *)left)->name, ((const struct dds_member *)right)->name);
}

/* Choices of one kind: a digest that is empty without one, and the choices themselves for messages. */
struct choice {
  char digest[CHOICE_DIGITS + 1];
  struct dds_text words;
};

static bool digest_choice(const struct dds_choice *given, struct choice *choice) {
  static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  *choice = (struct choice){0};
  if (given->count == 0) {
    return true;
  }
  const char **sorted = malloc(given->count * sizeof *sorted);
  if (sorted == NULL) {
    return false;
  }
  memcpy(sorted, given->texts, given->count * sizeof *sorted);
  qsort(sorted, given->count, sizeof *sorted, compare_texts);
  uint32_t crc = 0;
  for (size_t i = 0; i < given->count; i++) {
    crc = i == 0 ? crc : crc32(crc, "", 1);
    crc = crc32(crc, sorted[i], strlen(sorted[i]));
    dds_text_print(&choice->words, "%s%s", i == 0 ? "[" : ", ", sorted[i]);
  }
  free(sorted);
  for (int i = 0; i < CHOICE_DIGITS; i++) {
    choice->digest[i] = DIGITS[crc >> (18 - 6 * i) & 63];
  }
  dds_text_print(&choice->words, "] (%s)", choice->digest);
  return !choice->words.failed;
}

/* Digests the choices of a state, which are to be freed also without success. */
static bool digest_choices(const struct dds_state *state, struct choice choices[CHOICES]) {
  bool complete = digest_choice(&state->fields, &choices[0]);
  complete = digest_choice(&state->casts, &choices[1]) && complete;
  return digest_choice(&state->shapes, &choices[2]) && complete;
}

static void free_choices(struct choice choices[CHOICES]) {
  for (int i = 0; i < CHOICES; i++) {
    free(choices[i].words.bytes);
  }
}

/* Appends all members as an object. */
static void write_members(struct dds_text *json, const struct dds_member *members, size_t count) {
  dds_text_append(json, "{", 1);
  for (size_t i = 0; i < count; i++) {
    dds_flat_json_member(json, &members[i]);
  }
  dds_text_append(json, "}", 1);
}

/* Sets eight hexadecimal digits for all members except the checksum itself. Returns false without memory. */
static bool checksum(const struct dds_member *members, size_t count, char digits[9]) {
  struct dds_member *sorted = malloc((count + 1) * sizeof *sorted);
  if (sorted == NULL) {
    return false;
  }
  size_t used = 0;
  for (size_t i = 0; i < count; i++) {
    if (strcmp(members[i].name, CHECKSUM) != 0) {
      sorted[used++] = members[i];
    }
  }
  qsort(sorted, used, sizeof *sorted, compare_members);
  struct dds_text json = {0};
  write_members(&json, sorted, used);
  if (!json.failed) {
    snprintf(digits, 9, "%08" PRIx32, crc32(0, json.bytes, json.length));
  }
  free(json.bytes);
  free(sorted);
  return !json.failed;
}

static struct dds_member number_member(const char *name, int64_t number) {
  return (struct dds_member){.name = (char *)name, .name_length = strlen(name), .number = number};
}

static struct dds_member text_member(const char *name, const char *text) {
  return (struct dds_member){
      .name = (char *)name, .name_length = strlen(name), .text = (char *)text, .length = strlen(text)};
}

/* Writes the members of a state; schema and delivery are their memory. Returns false without memory. */
static bool write_state(const struct dds_state *state, const struct choice choices[CHOICES], struct dds_text *schema,
                        struct dds_text *json) {
  char delivery[CHOICES * (1 + CHOICE_DIGITS) + 1] = "";
  char sum[9];
  struct dds_member members[9];
  size_t count = 0;
  dds_text_print(schema, "%s%s%.*s", state->schema, state->digest[0] == '\0' ? "" : ".", DIGEST_DIGITS, state->digest);
  for (int i = 0; i < CHOICES; i++) {
    if (choices[i].digest[0] != '\0') {
      size_t used = strlen(delivery);
      snprintf(delivery + used, sizeof delivery - used, "%c%.4s", LETTERS[i], choices[i].digest);
    }
  }
  if (schema->failed) {
    return false;
  }
  members[count++] = number_member("v", VERSION);
  members[count++] = number_member("e", state->epoch);
  members[count++] = number_member("b", state->batch);
  members[count++] = number_member("n", state->rows);
  if (state->version != 0) {
    members[count++] = number_member("u", state->version);
  }
  members[count++] = text_member("s", state->sampling);
  members[count++] = text_member("d", schema->bytes);
  if (delivery[0] != '\0') {
    members[count++] = text_member("o", delivery);
  }
  if (!checksum(members, count, sum)) {
    return false;
  }
  members[count++] = text_member(CHECKSUM, sum);
  write_members(json, members, count);
  return !json->failed;
}

int dds_state_write(const struct dds_state *state, char *json, size_t json_bytes, struct dds_error *error) {
  struct choice choices[CHOICES];
  struct dds_text schema = {0};
  struct dds_text written = {0};
  bool complete = digest_choices(state, choices) && write_state(state, choices, &schema, &written);
  int code = DDS_OK;
  if (!complete) {
    code = no_memory(error);
  } else if (written.length >= json_bytes) {
    code = dds_fail(error, DDS_TOO_SMALL, "a state of %zu bytes: the memory has %zu, and needs %zu", written.length,
                    json_bytes, written.length + 1);
  } else {
    memcpy(json, written.bytes, written.length + 1);
  }
  free(schema.bytes);
  free(written.bytes);
  free_choices(choices);
  return code;
}

/* A state that was read. Texts are owned by the members that they were read from. */
struct saved {
  int64_t epoch;
  int64_t batch;
  int64_t rows;
  int64_t version;
  const char *sampling;
  struct dds_text schema;
  char *digest;
  char choices[CHOICES][CHOICE_DIGITS + 1];
};

/* The parser of a state: the first problem is kept. */
struct reading {
  const struct dds_members *members;
  const char *json;
  size_t bytes;
  struct dds_error *error;
  int code;
};

static void refuse(struct reading *reading, const char *problem) {
  if (reading->code == DDS_OK) {
    reading->code = dds_fail_with_text(reading->error, problem, reading->json, reading->bytes);
  }
}

/* Writes a member for a message: "null" if there is none. */
static void show(const struct dds_member *member, char shown[60]) {
  if (member == NULL) {
    snprintf(shown, 60, "null");
  } else if (member->text == NULL) {
    snprintf(shown, 60, "%" PRId64, member->number);
  } else {
    snprintf(shown, 60, "%.40s", member->text);
  }
  for (char *c = shown; *c != '\0'; c++) {
    if ((unsigned char)*c < ' ' || (unsigned char)*c > '~') {
      *c = ' ';
    }
  }
}

static const struct dds_member *member_of(struct reading *reading, const char *name, bool is_text) {
  static const struct dds_member NOTHING = {.text = (char *)""};
  const struct dds_member *member = dds_members_find(reading->members, name);
  if (member != NULL && (member->text != NULL) == is_text) {
    return member;
  }
  char shown[60];
  char problem[140];
  show(member, shown);
  snprintf(problem, sizeof problem, "\"%s\" is %s, not a %s, in the state ", name, shown, is_text ? "text" : "number");
  refuse(reading, problem);
  return &NOTHING;
}

/* Rejects a state of another version, or one that was changed after it was written. */
static void check_whole(struct reading *reading) {
  const struct dds_member *version = dds_members_find(reading->members, "v");
  int64_t number = version != NULL && version->text == NULL ? version->number : 0;
  char shown[60];
  char problem[300];
  if (number != VERSION && number != VERSION_WITHOUT_CHECKSUM) {
    show(version, shown);
    snprintf(problem, sizeof problem, "state version %s is not supported, expected %d or %d: ", shown,
             VERSION_WITHOUT_CHECKSUM, VERSION);
    refuse(reading, problem);
    return;
  }
  char computed[9];
  if (!checksum(reading->members->all, reading->members->count, computed)) {
    reading->code = no_memory(reading->error);
    return;
  }
  const struct dds_member *stored = dds_members_find(reading->members, CHECKSUM);
  bool has_none = number == VERSION_WITHOUT_CHECKSUM && stored == NULL;
  if (!has_none && (stored == NULL || stored->text == NULL || strcmp(stored->text, computed) != 0)) {
    show(stored, shown);
    snprintf(problem, sizeof problem,
             "the state was changed after it was saved: its checksum is %s, its content has %s: restore an unchanged "
             "copy, or begin the epoch again: ",
             stored == NULL ? "missing" : shown, computed);
    refuse(reading, problem);
  }
}

/* Splits the text of choices: each is preceded by its letter. */
static void parse_delivery(struct reading *reading, struct saved *saved) {
  if (dds_members_find(reading->members, "o") == NULL) {
    return;
  }
  const struct dds_member *delivery = member_of(reading, "o", true);
  size_t at = 0;
  for (int i = 0; i < CHOICES; i++) {
    if (delivery->length > at + CHOICE_DIGITS && delivery->text[at] == LETTERS[i]) {
      memcpy(saved->choices[i], delivery->text + at + 1, CHOICE_DIGITS);
      at += 1 + CHOICE_DIGITS;
    }
  }
  bool is_plain = true;
  for (size_t i = 0; i < delivery->length; i++) {
    is_plain = is_plain && delivery->text[i] > ' ' && delivery->text[i] <= '~';
  }
  if (at < delivery->length || !is_plain) {
    char shown[60];
    char problem[120];
    show(delivery, shown);
    snprintf(problem, sizeof problem, "\"%s\" is not a valid delivery, in the state ", shown);
    refuse(reading, problem);
  }
}

/* Reads all members. saved->schema is to be freed. */
static void read_members(struct reading *reading, struct saved *saved) {
  check_whole(reading);
  saved->epoch = member_of(reading, "e", false)->number;
  saved->batch = member_of(reading, "b", false)->number;
  saved->rows = member_of(reading, "n", false)->number;
  saved->version =
      dds_members_find(reading->members, "u") != NULL ? member_of(reading, "u", false)->number : saved->version;
  saved->sampling = member_of(reading, "s", true)->text;
  dds_text_print(&saved->schema, "%s", member_of(reading, "d", true)->text);
  parse_delivery(reading, saved);
  if (saved->schema.failed) {
    reading->code = no_memory(reading->error);
    return;
  }
  char *dot = strchr(saved->schema.bytes, '.');
  saved->digest = dot != NULL ? dot + 1 : saved->schema.bytes + saved->schema.length;
  if (dot != NULL) {
    *dot = '\0';
    if (strlen(saved->digest) > DIGEST_DIGITS) {
      saved->digest[DIGEST_DIGITS] = '\0';
    }
  }
  if (saved->epoch < 0 || saved->batch < 0) {
    refuse(reading, "negative epoch or batch in the state ");
  }
}

/* Differences between a state and the configuration here, joined for a message. */
static void begin_difference(struct dds_text *differences, const char *what) {
  dds_text_print(differences, "%s%s", differences->length == 0 ? "state mismatch: " : "; ", what);
}

static void compare_numbers(struct dds_text *differences, const char *what, int64_t saved, int64_t here,
                            const char *remedy) {
  if (saved != here) {
    begin_difference(differences, what);
    dds_text_print(differences, " is %" PRId64 " in the state, %" PRId64 " here%s", saved, here, remedy);
  }
}

static bool compare(struct dds_text *differences, const char *what, const char *saved, const char *here) {
  if (strcmp(saved, here) == 0) {
    return false;
  }
  begin_difference(differences, what);
  dds_text_print(differences, " is %s in the state, %s here", saved, here);
  return true;
}

/* Finds the digits of the global batch, which follow the last slash; the end of the digits, or NULL. */
static const char *find_global_batch(const char *sampling, const char **end) {
  for (const char *slash = strrchr(sampling, '/'); slash != NULL && slash >= sampling; slash--) {
    size_t digits = *slash == '/' ? strspn(slash + 1, "0123456789") : 0;
    if (digits > 0 && (slash[1 + digits] == '\0' || slash[1 + digits] == ' ')) {
      *end = slash + 1 + digits;
      return slash + 1;
    }
    if (slash == sampling) {
      break;
    }
  }
  return NULL;
}

/* Adds the remedy if only the size of the global batches differs. */
static void add_remedy(struct dds_text *differences, const char *saved, const char *here) {
  const char *saved_end = NULL;
  const char *here_end = NULL;
  const char *saved_batch = find_global_batch(saved, &saved_end);
  const char *here_batch = find_global_batch(here, &here_end);
  if (saved_batch == NULL || here_batch == NULL || saved_batch - saved != here_batch - here ||
      memcmp(saved, here, (size_t)(saved_batch - saved)) != 0 || strcmp(saved_end, here_end) != 0) {
    return;
  }
  int saved_digits = (int)(saved_end - saved_batch);
  int here_digits = (int)(here_end - here_batch);
  dds_text_print(differences,
                 ": a global batch has %.*s samples in the state, %.*s here: use global_batch_size %.*s, or resume a "
                 "sampler with batch_size on the same number of ranks",
                 saved_digits, saved_batch, here_digits, here_batch, saved_digits, saved_batch);
}

static void compare_choice(struct dds_text *differences, const char *what, const char *saved, const struct choice *here,
                           const char *plain) {
  if (strcmp(saved, here->digest) != 0) {
    compare(differences, what, saved[0] == '\0' ? plain : saved, here->digest[0] == '\0' ? plain : here->words.bytes);
  }
}

static int check_same(const struct saved *saved, const struct dds_state *here, const struct choice choices[CHOICES],
                      struct dds_error *error) {
  struct dds_text differences = {0};
  compare_numbers(&differences, "number of rows", saved->rows, here->rows,
                  ": load the rows that the state was saved with, or begin without the state");
  compare_numbers(&differences, "number of updates", saved->version, here->version, "");
  compare(&differences, "schema", saved->schema.bytes, here->schema);
  if (saved->digest[0] != '\0') { /* without a digest in the state, one here is not compared */
    char own[DIGEST_DIGITS + 1];
    snprintf(own, sizeof own, "%s", here->digest);
    compare(&differences, "digest of the rows", saved->digest, own[0] == '\0' ? "not known" : own);
  }
  if (compare(&differences, "sampling", saved->sampling, here->sampling)) {
    add_remedy(&differences, saved->sampling, here->sampling);
  }
  compare_choice(&differences, "choice of fields", saved->choices[0], &choices[0], "all");
  compare_choice(&differences, "choice of casts", saved->choices[1], &choices[1], "none");
  compare_choice(&differences, "choice of padding and densifying", saved->choices[2], &choices[2], "none");
  int code = DDS_OK;
  if (differences.failed) {
    code = no_memory(error);
  } else if (differences.length > 0) {
    code = dds_fail_with_text(error, "", differences.bytes, differences.length);
  }
  free(differences.bytes);
  return code;
}

int dds_state_resume(const char *json, size_t json_bytes, const struct dds_state *here, int64_t *epoch, int64_t *batch,
                     struct dds_error *error) {
  if (json_bytes > MOST_BYTES) {
    return dds_fail(error, DDS_INVALID_ARGUMENT, "a state of %zu bytes: at most %zu are legal", json_bytes, MOST_BYTES);
  }
  struct dds_members members;
  struct saved saved = {0};
  struct choice choices[CHOICES] = {0};
  int code = dds_flat_json_parse(json, json_bytes, &members, error);
  if (code == DDS_OK) {
    struct reading reading = {.members = &members, .json = json, .bytes = json_bytes, .error = error, .code = DDS_OK};
    read_members(&reading, &saved);
    code = reading.code;
  }
  if (code == DDS_OK && !digest_choices(here, choices)) {
    code = no_memory(error);
  }
  if (code == DDS_OK) {
    code = check_same(&saved, here, choices, error);
  }
  if (code == DDS_OK) {
    *epoch = saved.epoch;
    *batch = saved.batch;
  }
  free_choices(choices);
  free(saved.schema.bytes);
  dds_members_free(&members);
  return code;
}

int dds_schema_digest(const struct dds_reader *reader, char digest[9], struct dds_error *error) {
  struct dds_text bytes = {0};
  int fields = dds_reader_fields(reader);
  char count[2] = {(char)fields, (char)(fields >> 8)};
  dds_text_append(&bytes, count, sizeof count);
  for (int f = 0; f < fields; f++) {
    const struct dds_field_info *field = dds_reader_field(reader, f);
    size_t length = strlen(field->name);
    char name_length[2] = {(char)length, (char)(length >> 8)};
    char codes[3] = {(char)field->kind, (char)field->dtype, (char)field->dimensions};
    dds_text_append(&bytes, name_length, sizeof name_length);
    dds_text_append(&bytes, field->name, length);
    dds_text_append(&bytes, codes, sizeof codes);
    for (int d = 0; d < field->dimensions; d++) {
      int64_t size = field->shape[d];
      char dimension[4] = {(char)size, (char)(size >> 8), (char)(size >> 16), (char)(size >> 24)};
      dds_text_append(&bytes, dimension, sizeof dimension);
    }
  }
  int code = DDS_OK;
  if (bytes.failed) {
    code = no_memory(error);
  } else {
    snprintf(digest, 9, "%08" PRIx32, crc32(0, bytes.bytes, bytes.length));
  }
  free(bytes.bytes);
  return code;
}
