// SPDX-License-Identifier: Apache-2.0
/*
 * A process that reads as a program in Java asks it to, over its standard input and output, until the input ends.
 *
 * request = u8 'o' | u32 flags | u32 size | text of a handle   the result is the u32 number of a reader
 *           u8 'r' | u32 number | i64 deadline in ms | u32 count | i64 indices
 *           u8 'd' | u32 number                                the result is 8 digits of dds_schema_digest
 *           u8 'c' | u32 number
 * reply   = u32 code | u64 size | the result, or the text of the error
 *
 * The result of 'r' is struct dds_reach, and per field: offsets, unless it is fixed, and values. All numbers have the
 * byte order of the machine.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ddstore_reader.h"

#define MOST_READERS 64
#define FIRST_VALUE_BYTES 4096

struct tool {
  struct dds_reader *readers[MOST_READERS];
};

static void give_up(const char *what) {
  fprintf(stderr, "reader_tool: %s\n", what);
  exit(1);
}

/* Returns 0 at the end of the input, which must not be in the middle. */
static int get(void *to, size_t bytes) {
  size_t got = 0;
  while (got < bytes) {
    ssize_t now = read(STDIN_FILENO, (char *)to + got, bytes - got);
    if (now == 0 && got == 0) {
      return 0;
    }
    if (now == 0 || (now < 0 && errno != EINTR)) {
      give_up("the input ends in the middle");
    }
    got += now < 0 ? 0 : (size_t)now;
  }
  return 1;
}

static void need(void *to, size_t bytes) {
  if (bytes > 0 && !get(to, bytes)) {
    give_up("the input ends in the middle");
  }
}

static void put(const void *from, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    ssize_t now = write(STDOUT_FILENO, (const char *)from + done, bytes - done);
    if (now < 0 && errno != EINTR) {
      exit(1); /* nobody listens */
    }
    done += now < 0 ? 0 : (size_t)now;
  }
}

static void *memory(size_t bytes) {
  void *got = malloc(bytes == 0 ? 1 : bytes);
  if (got == NULL) {
    give_up("no memory");
  }
  return got;
}

static void begin_reply(int code, uint64_t bytes) {
  uint8_t header[12];
  uint32_t number = (uint32_t)code;
  memcpy(header, &number, sizeof number);
  memcpy(header + 4, &bytes, sizeof bytes);
  put(header, sizeof header);
}

static void reply_error(int code, const struct dds_error *error) {
  begin_reply(code, strlen(error->text));
  put(error->text, strlen(error->text));
}

static struct dds_reader **reader_at(struct tool *tool) {
  uint32_t number;
  need(&number, sizeof number);
  if (number >= MOST_READERS || tool->readers[number] == NULL) {
    give_up("no reader has this number");
  }
  return &tool->readers[number];
}

static void open_reader(struct tool *tool) {
  uint32_t head[2];
  struct dds_error error;
  uint32_t number = 0;
  need(head, sizeof head);
  char *text = memory(head[1]);
  need(text, head[1]);
  while (number < MOST_READERS && tool->readers[number] != NULL) {
    number++;
  }
  if (number == MOST_READERS) {
    give_up("too many readers");
  }
  int code = dds_reader_open(text, head[1], (int)head[0], &tool->readers[number], &error);
  free(text);
  if (code != DDS_OK) {
    reply_error(code, &error);
    return;
  }
  begin_reply(code, sizeof number);
  put(&number, sizeof number);
}

/* Reads all fields; memory of values that is too small is replaced by what is needed. */
static int read_batch(struct dds_reader *reader, const int64_t *indices, size_t count, struct dds_target *targets,
                      int64_t deadline_ms, struct dds_error *error) {
  size_t fields = (size_t)dds_reader_fields(reader);
  while (1) {
    int code = dds_reader_get_batch(reader, indices, count, targets, fields, deadline_ms, error);
    if (code != DDS_TOO_SMALL) {
      return code;
    }
    for (size_t f = 0; f < fields; f++) {
      if (targets[f].used_bytes > targets[f].value_bytes) {
        free(targets[f].values);
        targets[f].value_bytes = targets[f].used_bytes;
        targets[f].values = memory(targets[f].value_bytes);
      }
    }
  }
}

static void reply_rows(const struct dds_reader *reader, const struct dds_target *targets, size_t count) {
  struct dds_reach reach = dds_reader_reach(reader);
  size_t fields = (size_t)dds_reader_fields(reader);
  uint64_t bytes = sizeof reach;
  for (size_t f = 0; f < fields; f++) {
    bytes += targets[f].used_bytes + (targets[f].offsets == NULL ? 0 : (count + 1) * sizeof(int64_t));
  }
  begin_reply(DDS_OK, bytes);
  put(&reach, sizeof reach);
  for (size_t f = 0; f < fields; f++) {
    if (targets[f].offsets != NULL) {
      put(targets[f].offsets, (count + 1) * sizeof(int64_t));
    }
    put(targets[f].values, targets[f].used_bytes);
  }
}

static void read_rows(struct tool *tool) {
  struct dds_reader *reader = *reader_at(tool);
  int64_t deadline_ms;
  uint32_t count;
  struct dds_error error;
  need(&deadline_ms, sizeof deadline_ms);
  need(&count, sizeof count);
  int64_t *indices = memory(count * sizeof *indices);
  need(indices, count * sizeof *indices);
  size_t fields = (size_t)dds_reader_fields(reader);
  struct dds_target *targets = memory(fields * sizeof *targets);
  for (size_t f = 0; f < fields; f++) {
    const struct dds_field_info *field = dds_reader_field(reader, (int)f);
    int fixed = field->kind == DDS_FIXED;
    size_t room = fixed ? count * (size_t)field->element_bytes : FIRST_VALUE_BYTES;
    targets[f] = (struct dds_target){.field = (int)f,
                                     .values = memory(room),
                                     .value_bytes = room,
                                     .offsets = fixed ? NULL : memory((count + 1) * sizeof(int64_t))};
  }
  int code = read_batch(reader, indices, count, targets, deadline_ms, &error);
  if (code == DDS_OK) {
    reply_rows(reader, targets, count);
  } else {
    reply_error(code, &error);
  }
  for (size_t f = 0; f < fields; f++) {
    free(targets[f].values);
    free(targets[f].offsets);
  }
  free(targets);
  free(indices);
}

static void reply_digest(struct tool *tool) {
  char digest[9];
  struct dds_error error;
  int code = dds_schema_digest(*reader_at(tool), digest, &error);
  if (code != DDS_OK) {
    reply_error(code, &error);
    return;
  }
  begin_reply(code, 8);
  put(digest, 8);
}

static void close_reader(struct tool *tool) {
  struct dds_reader **reader = reader_at(tool);
  dds_reader_close(*reader);
  *reader = NULL;
  begin_reply(DDS_OK, 0);
}

int main(void) {
  struct tool tool = {0};
  uint8_t what;
  while (get(&what, 1)) {
    switch (what) {
      case 'o':
        open_reader(&tool);
        break;
      case 'r':
        read_rows(&tool);
        break;
      case 'd':
        reply_digest(&tool);
        break;
      case 'c':
        close_reader(&tool);
        break;
      default:
        give_up("an unknown request");
    }
  }
  for (size_t r = 0; r < MOST_READERS; r++) {
    dds_reader_close(tool.readers[r]);
  }
  return 0;
}
