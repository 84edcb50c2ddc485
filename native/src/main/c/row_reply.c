// SPDX-License-Identifier: Apache-2.0
#include "row_reply.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "gather.h"

/* As in GatherReply.java: records of at least this size are sent without a copy, by Java. */
#define OWN_BUFFER_BYTES (16 << 10)

/* Size of the parts before and after the records: GatherReply.ALIGNMENT. */
#define END_BYTES 64

/* Status codes of Status.java. */
#define STATUS_OK 0
#define STATUS_CHANGING 1

/* Limits of GatherRequest.java. */
#define MOST_ROWS (16 << 10)
#define MOST_BYTES (1 << 20)

/* Number of pieces that are copied together. */
#define PIECES 256

/* Positions in a request for rows of one segment. */
#define LENGTHS_AT 0
#define SKIP_AT 1
#define BYTES_AT 5
#define SEGMENTS_AT 9
#define NONCE_AT 13
#define RUNS_AT (NONCE_AT + DDS_NONCE_BYTES)
#define ROWS_AT (RUNS_AT + 4)
#define FIRST_ROWS_AT (ROWS_AT + 4)

static int64_t int_at(const uint8_t *place) {
  uint32_t value;
  memcpy(&value, place, sizeof value);
  return (int32_t)be32toh(value);
}

static int64_t long_at(const uint8_t *place) {
  uint64_t value;
  memcpy(&value, place, sizeof value);
  return (int64_t)be64toh(value);
}

/*
 * The rows of a request, and how far they are copied.
 *
 * counts  rows of each run; NULL: each has one row
 * run     number of the current run
 * row     number of the next row within it
 */
struct cursor {
  const uint8_t *first_rows;
  const uint8_t *counts;
  int64_t runs;
  int64_t run;
  int64_t row;
};

static int64_t rows_of_run(const struct cursor *cursor) {
  return cursor->counts == NULL ? 1 : int_at(cursor->counts + 4 * cursor->run);
}

/* Returns whether all runs lie in the segment and have as many rows as the request says. */
static int are_valid(struct cursor runs, const struct dds_served_segment *segment, int64_t rows) {
  int64_t sum = 0;
  for (; runs.run < runs.runs; runs.run++) {
    int64_t first = long_at(runs.first_rows + 8 * runs.run);
    int64_t count = rows_of_run(&runs);
    if (count < 1 || first < 0 || count > segment->rows || first > segment->rows - count) {
      return 0;
    }
    sum += count;
  }
  return sum == rows;
}

/* Copies the next rows, as many as there is room for. Returns the number of bytes copied. */
static size_t copy_rows(struct cursor *cursor, const struct dds_served_segment *segment, uint8_t *to, size_t room) {
  int64_t pieces[PIECES];
  int32_t bytes[PIECES];
  size_t count = 0;
  uint8_t *end = to;
  int64_t left = (int64_t)room / segment->record_bytes;
  while (left > 0 && cursor->run < cursor->runs) {
    int64_t in_run = rows_of_run(cursor);
    int64_t row = long_at(cursor->first_rows + 8 * cursor->run) + cursor->row;
    int64_t chunk = row >> segment->row_shift;
    int64_t in_chunk = row - (chunk << segment->row_shift);
    int64_t rows = in_run - cursor->row;
    int64_t rows_to_chunk_end = ((int64_t)1 << segment->row_shift) - in_chunk;
    rows = rows < left ? rows : left;
    rows = rows < rows_to_chunk_end ? rows : rows_to_chunk_end;
    pieces[count] = segment->chunks[chunk] + in_chunk * segment->record_bytes;
    bytes[count++] = (int32_t)(rows * segment->record_bytes);
    left -= rows;
    cursor->row += rows;
    if (cursor->row == in_run) {
      cursor->run++;
      cursor->row = 0;
    }
    if (count == PIECES) {
      end = dds_pack(pieces, bytes, count, end);
      count = 0;
    }
  }
  return (size_t)(dds_pack(pieces, bytes, count, end) - to);
}

static uint64_t version_of(const struct dds_served_segment *segment) {
  return le64toh(__atomic_load_n(segment->version, __ATOMIC_ACQUIRE));
}

/* Writes the part after the records: whether the rows were stable, and their version. */
static void put_tail(uint8_t *to, const struct dds_served_segment *segment, uint64_t version) {
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  int stable = (version & 1) == 0 && version == version_of(segment);
  uint64_t big = htobe64(version);
  memset(to, 0, END_BYTES);
  to[0] = stable ? STATUS_OK : STATUS_CHANGING;
  memcpy(to + 1, &big, sizeof big);
}

static enum dds_reply_result send_all(int socket, const uint8_t *from, size_t bytes, struct dds_sent *sent) {
  ssize_t taken;
  do {
    taken = send(socket, from, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (taken < 0 && errno == EINTR);
  if (taken < 0) {
    return errno == EAGAIN || errno == EWOULDBLOCK ? DDS_SENT_PART : DDS_BROKEN;
  }
  sent->bytes += taken;
  return (size_t)taken == bytes ? DDS_REPLIED : DDS_SENT_PART;
}

static enum dds_reply_result send_rows(struct cursor *cursor, const struct dds_served_segment *segment, int socket,
                                       uint8_t *packed, size_t packed_bytes, struct dds_sent *sent) {
  uint64_t version = version_of(segment);
  *sent = (struct dds_sent){.bytes = 0, .version = (int64_t)version};
  memset(packed, 0, END_BYTES);
  packed[0] = STATUS_OK;
  size_t filled = END_BYTES;
  int ended = 0;
  while (!ended) {
    filled += copy_rows(cursor, segment, packed + filled, packed_bytes - filled);
    if (cursor->run == cursor->runs && packed_bytes - filled >= END_BYTES) {
      put_tail(packed + filled, segment, version);
      filled += END_BYTES;
      ended = 1;
    }
    enum dds_reply_result result = send_all(socket, packed, filled, sent);
    if (result != DDS_REPLIED) {
      return result;
    }
    filled = 0;
  }
  return DDS_REPLIED;
}

enum dds_reply_result dds_reply(struct dds_served_rows *rows, int socket, const uint8_t *request, size_t request_bytes,
                                uint8_t *packed, size_t packed_bytes, struct dds_sent *sent) {
  if (request_bytes < FIRST_ROWS_AT || request[LENGTHS_AT] != 0 || int_at(request + SKIP_AT) != 0 ||
      int_at(request + SEGMENTS_AT) != 1) {
    return DDS_NOT_HERE;
  }
  int64_t runs = int_at(request + RUNS_AT);
  int64_t wanted = int_at(request + ROWS_AT);
  int64_t bytes = int_at(request + BYTES_AT);
  if (runs < 1 || wanted < runs || wanted > MOST_ROWS || bytes > MOST_BYTES ||
      request_bytes != (size_t)(FIRST_ROWS_AT + runs * (wanted == runs ? 8 : 12))) {
    return DDS_NOT_HERE;
  }
  struct dds_served_segment *segment = dds_rows_find(rows, request + NONCE_AT);
  if (segment == NULL) {
    return DDS_NOT_HERE;
  }
  struct cursor cursor = {.first_rows = request + FIRST_ROWS_AT,
                          .counts = wanted == runs ? NULL : request + FIRST_ROWS_AT + 8 * runs,
                          .runs = runs,
                          .run = 0,
                          .row = 0};
  enum dds_reply_result result = DDS_NOT_HERE;
  if (segment->record_bytes < OWN_BUFFER_BYTES && bytes == wanted * segment->record_bytes &&
      are_valid(cursor, segment, wanted)) {
    dds_rows_count(rows, 1); /* before the peer has the reply */
    result = send_rows(&cursor, segment, socket, packed, packed_bytes, sent);
    if (result == DDS_SENT_PART) {
      dds_rows_count(rows, -1); /* Java counts it */
    }
  }
  dds_rows_end_use(rows, segment);
  return result;
}
