// SPDX-License-Identifier: Apache-2.0
#include "row_reply.h"

#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "gather.h"

/* As in GatherReply.java: pieces of at least this size are sent without a copy if the reply takes several writes. */
#define OWN_BUFFER_BYTES (16 << 10)

/* The parts before and after the records have a multiple of this size: GatherReply.ALIGNMENT. */
#define ALIGNMENT 64

/* Status codes of Status.java. */
#define STATUS_OK 0
#define STATUS_CHANGING 1
#define STATUS_GONE 2

/* Limits of GatherRequest.java. */
#define MOST_ROWS (16 << 10)
#define MOST_BYTES (1 << 20)

#define LENGTH_BYTES 4
#define VERSION_BYTES 8

/* Number of pieces that are copied together. */
#define PIECES 256

/* Number of pieces of one write. */
#define MOST_BUFFERS 64

/* Number of segments of a request that need no memory of their own. */
#define FEW_PARTS 16

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

static int64_t aligned(int64_t bytes) {
  return (bytes + ALIGNMENT - 1) & -(int64_t)ALIGNMENT;
}

/* The bytes of a request that are not read yet. */
struct input {
  const uint8_t *at;
  size_t left;
};

/* Returns the next bytes, or NULL if there are fewer. */
static const uint8_t *take(struct input *input, int64_t bytes) {
  if (bytes < 0 || (size_t)bytes > input->left) {
    return NULL;
  }
  const uint8_t *taken = input->at;
  input->at += bytes;
  input->left -= (size_t)bytes;
  return taken;
}

/*
 * The rows of a request in one segment.
 *
 * first_rows  first row of each run, in the request
 * counts      rows of each run, in the request; NULL: each has one row
 * version     version of the segment before its rows were read
 */
struct part {
  struct dds_served_segment *segment;
  const uint8_t *first_rows;
  const uint8_t *counts;
  int64_t runs;
  int64_t rows;
  uint64_t version;
};

/*
 * A request and the sizes of its reply.
 *
 * skip        bytes of the first record that are left out
 * head_bytes  size of what precedes the records: status and lengths
 * data_bytes  size of the records
 * is_whole    whether these are all records to their end
 * tail_bytes  size of what follows them: status and versions
 */
struct reply {
  int lengths;
  int64_t skip;
  int64_t rows;
  struct part *parts;
  size_t part_count;
  struct part few[FEW_PARTS];
  int64_t head_bytes;
  int64_t data_bytes;
  int is_whole;
  int64_t tail_bytes;
};

static int64_t rows_of_run(const struct part *part, int64_t run) {
  return part->counts == NULL ? 1 : int_at(part->counts + 4 * run);
}

static int64_t first_row(const struct part *part, int64_t run) {
  return long_at(part->first_rows + 8 * run);
}

/* Returns where a ragged record begins in the stream of all records. */
static int64_t offset_of(const struct dds_served_segment *segment, int64_t row) {
  const uint8_t *entries = (const uint8_t *)(intptr_t)segment->entries[row >> segment->entry_shift];
  uint64_t offset;
  memcpy(&offset, entries + 8 * (row & (((int64_t)1 << segment->entry_shift) - 1)), sizeof offset);
  return (int64_t)le64toh(offset);
}

static int64_t bytes_of_record(const struct dds_served_segment *segment, int64_t row) {
  return segment->record_bytes > 0 ? segment->record_bytes : offset_of(segment, row + 1) - offset_of(segment, row);
}

static int64_t bytes_of_run(const struct part *part, int64_t run) {
  int64_t rows = rows_of_run(part, run);
  if (part->segment->record_bytes > 0) {
    return rows * part->segment->record_bytes;
  }
  int64_t first = first_row(part, run);
  return offset_of(part->segment, first + rows) - offset_of(part->segment, first);
}

static uint64_t version_of(const struct dds_served_segment *segment) {
  return le64toh(__atomic_load_n(segment->version, __ATOMIC_ACQUIRE));
}

/* Checks the runs of a part, whose rows have to lie in the segment. */
static enum dds_reply_result check_runs(const struct part *part) {
  const struct dds_served_segment *segment = part->segment;
  int64_t sum = 0;
  for (int64_t run = 0; run < part->runs; run++) {
    int64_t first = first_row(part, run);
    int64_t count = rows_of_run(part, run);
    if (count < 1 || first < 0 || count > segment->rows || first > segment->rows - count) {
      return DDS_ILLEGAL;
    }
    sum += count;
  }
  return sum == part->rows ? DDS_REPLIED : DDS_ILLEGAL;
}

/* Checks that ragged records follow each other within the stream. */
static enum dds_reply_result check_offsets(const struct part *part) {
  const struct dds_served_segment *segment = part->segment;
  int64_t end = segment->chunk_starts[segment->chunk_count];
  for (int64_t run = 0; run < part->runs; run++) {
    int64_t row = first_row(part, run);
    int64_t at = offset_of(segment, row);
    for (int64_t left = rows_of_run(part, run); left > 0; left--) {
      int64_t next = offset_of(segment, ++row);
      if (at < 0 || next < at || next > end || next - at > INT32_MAX) {
        return DDS_DAMAGED;
      }
      at = next;
    }
  }
  return DDS_REPLIED;
}

/* Reads the next part of a request. *gone: whether its segment is not here. */
static enum dds_reply_result read_part(struct input *input, struct dds_served_rows *rows, struct reply *reply,
                                       int *gone) {
  const uint8_t *nonce = take(input, DDS_NONCE_BYTES);
  if (nonce == NULL) {
    return DDS_TRUNCATED;
  }
  struct dds_served_segment *segment = dds_rows_find(rows, nonce);
  if (segment == NULL) {
    *gone = 1;
    return DDS_REPLIED;
  }
  struct part *part = &reply->parts[reply->part_count++]; /* end_parts releases the segment */
  *part = (struct part){.segment = segment, .version = version_of(segment)};
  const uint8_t *numbers = take(input, 2 * 4);
  if (numbers == NULL) {
    return DDS_TRUNCATED;
  }
  part->runs = int_at(numbers);
  part->rows = int_at(numbers + 4);
  if (part->runs < 1 || part->runs > part->rows || part->rows > MOST_ROWS - reply->rows) {
    return DDS_ILLEGAL;
  }
  reply->rows += part->rows;
  part->first_rows = take(input, 8 * part->runs);
  if (part->first_rows == NULL) {
    return DDS_TRUNCATED;
  }
  if (part->runs < part->rows) {
    part->counts = take(input, 4 * part->runs);
    if (part->counts == NULL) {
      return DDS_TRUNCATED;
    }
  }
  enum dds_reply_result result = check_runs(part);
  return result == DDS_REPLIED && segment->record_bytes == 0 ? check_offsets(part) : result;
}

static void end_parts(struct dds_served_rows *rows, struct reply *reply) {
  for (size_t p = 0; p < reply->part_count; p++) {
    dds_rows_end_use(rows, reply->parts[p].segment);
  }
  if (reply->parts != reply->few) {
    free(reply->parts);
  }
}

/* Returns the size of the first record in bytes. */
static int64_t first_record_bytes(const struct reply *reply) {
  const struct part *part = &reply->parts[0];
  return bytes_of_record(part->segment, first_row(part, 0));
}

/* Reads a request. Each part that was read refers to a segment until end_parts. */
static enum dds_reply_result read_request(struct input input, struct dds_served_rows *rows, struct reply *reply,
                                          int *gone) {
  const uint8_t *header = take(&input, 1 + 3 * 4);
  if (header == NULL) {
    return DDS_TRUNCATED;
  }
  reply->lengths = header[0] != 0;
  reply->skip = int_at(header + 1);
  int64_t bytes = int_at(header + 5);
  int64_t parts = int_at(header + 9);
  int64_t least_part = DDS_NONCE_BYTES + 2 * 4 + 8;
  if (reply->skip < 0 || bytes < 0 || bytes > MOST_BYTES || parts < 1 || parts > (int64_t)input.left / least_part ||
      parts > MOST_ROWS) {
    return DDS_ILLEGAL;
  }
  if (parts > FEW_PARTS) {
    struct part *many = calloc((size_t)parts, sizeof *many);
    if (many == NULL) {
      return DDS_NO_MEMORY;
    }
    reply->parts = many;
  }
  for (int64_t p = 0; p < parts; p++) {
    enum dds_reply_result result = read_part(&input, rows, reply, gone);
    if (result != DDS_REPLIED || *gone) {
      return result;
    }
  }
  if (input.left > 0 || reply->skip > first_record_bytes(reply)) {
    return DDS_ILLEGAL;
  }
  int64_t size = -reply->skip;
  for (size_t p = 0; p < reply->part_count; p++) {
    const struct part *part = &reply->parts[p];
    if (part->segment->record_bytes > 0) {
      size += part->rows * part->segment->record_bytes;
      continue;
    }
    for (int64_t run = 0; run < part->runs; run++) {
      size += bytes_of_run(part, run);
    }
  }
  if (!reply->lengths && size < bytes) {
    return DDS_ILLEGAL;
  }
  reply->is_whole = size <= bytes;
  reply->data_bytes = size < bytes ? size : bytes;
  reply->head_bytes = aligned(1 + (reply->lengths ? LENGTH_BYTES * reply->rows : 0));
  reply->tail_bytes = aligned(1 + VERSION_BYTES * (int64_t)reply->part_count);
  return DDS_REPLIED;
}

/* The part of a reply that one call produces, from a byte of the records on. */
struct cursor {
  size_t part;
  int64_t run;
  int64_t at; /* bytes of the run before the cursor */
};

static void seek(const struct reply *reply, struct cursor *cursor, int64_t bytes) {
  cursor->at += bytes;
  while (cursor->part < reply->part_count) {
    const struct part *part = &reply->parts[cursor->part];
    int64_t in_run = bytes_of_run(part, cursor->run);
    if (cursor->at < in_run) {
      return;
    }
    cursor->at -= in_run;
    if (++cursor->run == part->runs) {
      cursor->run = 0;
      cursor->part++;
    }
  }
}

/* A piece of records that lie one after the other in memory. */
struct piece {
  int64_t address;
  int64_t bytes;
};

static struct piece fixed_piece(const struct part *part, const struct cursor *cursor) {
  const struct dds_served_segment *segment = part->segment;
  int64_t size = segment->record_bytes;
  int64_t row = first_row(part, cursor->run);
  int64_t in_record = cursor->at;
  if (in_record >= size) {
    row += in_record / size;
    in_record %= size;
  }
  int64_t chunk = row >> segment->row_shift;
  int64_t in_chunk = row - (chunk << segment->row_shift);
  int64_t to_chunk_end = ((int64_t)1 << segment->row_shift) - in_chunk;
  int64_t to_run_end = rows_of_run(part, cursor->run) - (cursor->at - in_record) / size;
  int64_t rows = to_chunk_end < to_run_end ? to_chunk_end : to_run_end;
  return (struct piece){.address = segment->chunks[chunk] + in_chunk * size + in_record,
                        .bytes = rows * size - in_record};
}

/* Returns the chunk of an offset before the end: the last one that begins at it or before. */
static size_t chunk_of(const struct dds_served_segment *segment, int64_t offset) {
  size_t low = 0;
  size_t high = segment->chunk_count;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (segment->chunk_starts[middle] <= offset) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

static struct piece ragged_piece(const struct part *part, const struct cursor *cursor) {
  const struct dds_served_segment *segment = part->segment;
  int64_t offset = offset_of(segment, first_row(part, cursor->run)) + cursor->at;
  size_t chunk = chunk_of(segment, offset);
  int64_t to_chunk_end = segment->chunk_starts[chunk + 1] - offset;
  int64_t to_run_end = bytes_of_run(part, cursor->run) - cursor->at;
  return (struct piece){.address = segment->chunks[chunk] + offset - segment->chunk_starts[chunk],
                        .bytes = to_chunk_end < to_run_end ? to_chunk_end : to_run_end};
}

static struct piece piece_at(const struct reply *reply, const struct cursor *cursor) {
  const struct part *part = &reply->parts[cursor->part];
  return part->segment->record_bytes > 0 ? fixed_piece(part, cursor) : ragged_piece(part, cursor);
}

/*
 * The next write.
 *
 * packed   memory for the pieces that are copied
 * filled   bytes of it that are in use
 * begun    of these, bytes that are in buffers
 * copied   whether all records of it are copied
 */
struct window {
  uint8_t *packed;
  size_t room;
  size_t filled;
  size_t begun;
  int copied;
  struct iovec buffers[MOST_BUFFERS];
  size_t count;
  int64_t bytes;
  int64_t pieces[PIECES];
  int32_t piece_bytes[PIECES];
  size_t piece_count;
  size_t unpacked; /* bytes of these pieces */
};

static void pack(struct window *window) {
  dds_pack(window->pieces, window->piece_bytes, window->piece_count, window->packed + window->filled);
  window->filled += window->unpacked;
  window->piece_count = 0;
  window->unpacked = 0;
}

static void add_buffer(struct window *window, void *from, size_t bytes) {
  if (bytes > 0) {
    window->buffers[window->count++] = (struct iovec){.iov_base = from, .iov_len = bytes};
    window->bytes += (int64_t)bytes;
  }
}

static void add_packed(struct window *window) {
  pack(window);
  add_buffer(window, window->packed + window->begun, window->filled - window->begun);
  window->begun = window->filled;
}

/* Adds a part of the reply that does not consist of records, without its first bytes. */
static void add_end(struct window *window, const uint8_t *end, int64_t bytes, int64_t skip) {
  memmove(window->packed + window->filled, end + skip, (size_t)(bytes - skip));
  window->filled += (size_t)(bytes - skip);
}

/* Writes status and lengths behind what the window has. */
static void add_head(struct window *window, const struct reply *reply, int64_t skip) {
  uint8_t *to = window->packed + window->filled;
  uint8_t *end = to;
  *end++ = STATUS_OK;
  for (size_t p = 0; reply->lengths && p < reply->part_count; p++) {
    const struct part *part = &reply->parts[p];
    for (int64_t run = 0; run < part->runs; run++) {
      int64_t row = first_row(part, run);
      for (int64_t left = rows_of_run(part, run); left > 0; left--, row++) {
        uint32_t big = htobe32((uint32_t)bytes_of_record(part->segment, row));
        memcpy(end, &big, sizeof big);
        end += sizeof big;
      }
    }
  }
  memset(end, 0, (size_t)(to + reply->head_bytes - end));
  add_end(window, to, reply->head_bytes, skip);
}

/* Writes whether the rows were stable, and their versions. */
static void add_tail(struct window *window, const struct reply *reply, int64_t skip) {
  uint8_t *to = window->packed + window->filled;
  uint8_t *end = to + 1;
  *to = STATUS_OK;
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  for (size_t p = 0; p < reply->part_count; p++) {
    uint64_t version = reply->parts[p].version;
    if ((version & 1) != 0 || version != version_of(reply->parts[p].segment)) {
      *to = STATUS_CHANGING;
    }
    uint64_t big = htobe64(version);
    memcpy(end, &big, sizeof big);
    end += sizeof big;
  }
  memset(end, 0, (size_t)(to + reply->tail_bytes - end));
  add_end(window, to, reply->tail_bytes, skip);
}

/* Adds records to the window, at most some bytes. Returns the number of bytes. */
static int64_t add_records(struct window *window, const struct reply *reply, struct cursor *cursor, int64_t most,
                           int packs_all) {
  int64_t added = 0;
  while (added < most && window->count < MOST_BUFFERS - 2) {
    struct piece piece = piece_at(reply, cursor);
    if (piece.bytes > most - added) {
      piece.bytes = most - added;
    }
    if (piece.bytes >= OWN_BUFFER_BYTES && !packs_all) {
      add_packed(window);
      add_buffer(window, (void *)(intptr_t)piece.address, (size_t)piece.bytes);
      window->copied = 0;
    } else {
      int64_t room = (int64_t)(window->room - window->filled - window->unpacked);
      if (room == 0) {
        break;
      }
      piece.bytes = piece.bytes < room ? piece.bytes : room;
      window->pieces[window->piece_count] = piece.address;
      window->piece_bytes[window->piece_count++] = (int32_t)piece.bytes;
      window->unpacked += (size_t)piece.bytes;
      if (window->piece_count == PIECES) {
        pack(window);
      }
    }
    added += piece.bytes;
    seek(reply, cursor, piece.bytes);
  }
  pack(window);
  return added;
}

static enum dds_reply_result send_window(int socket, struct window *window, struct dds_sending *sending) {
  struct msghdr message = {.msg_iov = window->buffers, .msg_iovlen = window->count};
  ssize_t taken;
  do {
    taken = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (taken < 0 && errno == EINTR);
  if (taken < 0) {
    return errno == EAGAIN || errno == EWOULDBLOCK ? DDS_SENT_PART : DDS_BROKEN;
  }
  sending->bytes += taken;
  return taken == window->bytes ? DDS_REPLIED : DDS_SENT_PART;
}

/* Sends a reply from its byte sending->bytes on. */
static enum dds_reply_result send_reply(const struct reply *reply, int socket, uint8_t *packed, size_t packed_bytes,
                                        struct dds_sending *sending) {
  int64_t data_end = reply->head_bytes + reply->data_bytes;
  int64_t end = data_end + reply->tail_bytes;
  int packs_all = end <= (int64_t)packed_bytes;
  struct cursor cursor = {0, 0, 0};
  int64_t in_data = sending->bytes - reply->head_bytes;
  seek(reply, &cursor, reply->skip + (in_data > 0 ? in_data : 0));
  while (sending->bytes < end) {
    struct window window;
    window.packed = packed;
    window.room = packed_bytes;
    window.filled = window.begun = window.count = window.piece_count = window.unpacked = 0;
    window.bytes = 0;
    window.copied = 1;
    int64_t at = sending->bytes;
    if (at < reply->head_bytes) {
      add_head(&window, reply, at);
      at = reply->head_bytes;
    }
    if (at < data_end) {
      at += add_records(&window, reply, &cursor, data_end - at, packs_all);
    }
    /* Records that are not copied here are read by the write: the versions are checked after it. */
    if (at >= data_end && window.copied && (int64_t)(packed_bytes - window.filled) >= reply->tail_bytes) {
      add_tail(&window, reply, at - data_end);
    }
    add_packed(&window);
    enum dds_reply_result result = send_window(socket, &window, sending);
    if (result != DDS_REPLIED) {
      return result;
    }
  }
  return DDS_REPLIED;
}

/* Sends the status of a request for a segment that is not here. */
static enum dds_reply_result send_gone(int socket, struct dds_sending *sending) {
  uint8_t status = STATUS_GONE;
  struct window window = {.count = 0, .bytes = 0};
  add_buffer(&window, &status, sizeof status);
  return sending->bytes > 0 ? DDS_BROKEN : send_window(socket, &window, sending);
}

/* Takes over the versions of the first call, or keeps those of this one. */
static int keep_versions(struct reply *reply, struct dds_sending *sending) {
  int first = sending->versions == NULL;
  if (first) {
    sending->versions = calloc(reply->part_count, sizeof *sending->versions);
    if (sending->versions == NULL) {
      return 0;
    }
  }
  for (size_t p = 0; p < reply->part_count; p++) {
    if (first) {
      sending->versions[p] = reply->parts[p].version;
    } else {
      reply->parts[p].version = sending->versions[p];
    }
  }
  return 1;
}

/* Returns the number of records whose first byte is in the reply. */
static int64_t records_begun(const struct reply *reply) {
  int64_t begun = 0;
  int64_t left = reply->skip + reply->data_bytes;
  for (size_t p = 0; !reply->is_whole && p < reply->part_count; p++) {
    const struct part *part = &reply->parts[p];
    for (int64_t run = 0; run < part->runs && left > 0; run++) {
      int64_t row = first_row(part, run);
      for (int64_t end = row + rows_of_run(part, run); row < end && left > 0; row++) {
        left -= bytes_of_record(part->segment, row);
        begun++;
      }
    }
  }
  return (reply->is_whole ? reply->rows : begun) - (reply->skip > 0);
}

static void count(int64_t *counts, const struct reply *reply) {
  __atomic_fetch_add(&counts[DDS_COUNT_REQUESTS], 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&counts[DDS_COUNT_ROWS], records_begun(reply), __ATOMIC_RELAXED);
  __atomic_fetch_add(&counts[DDS_COUNT_BYTES], reply->data_bytes, __ATOMIC_RELAXED);
}

enum dds_reply_result dds_reply(struct dds_served_rows *rows, int socket, const uint8_t *request, size_t request_bytes,
                                uint8_t *packed, size_t packed_bytes, struct dds_sending *sending, int64_t *counts) {
  int first = !sending->begun;
  if (first) {
    sending->begun = 1;
    dds_rows_count(rows, 1); /* before the peer has the reply */
  }
  struct reply reply;
  reply.part_count = 0;
  reply.rows = 0;
  reply.parts = reply.few;
  int gone = 0;
  enum dds_reply_result result = read_request((struct input){request, request_bytes}, rows, &reply, &gone);
  if (result == DDS_REPLIED && gone) {
    result = send_gone(socket, sending);
  } else if (result == DDS_REPLIED) {
    if (first && counts != NULL) {
      count(counts, &reply);
    }
    int resumed = sending->versions != NULL;
    if (resumed) {
      keep_versions(&reply, sending);
    }
    result = send_reply(&reply, socket, packed, packed_bytes, sending);
    if (result == DDS_SENT_PART && !resumed && !keep_versions(&reply, sending)) {
      result = DDS_NO_MEMORY;
    }
  }
  end_parts(rows, &reply);
  return result;
}

void dds_reply_end(struct dds_sending *sending) {
  free(sending->versions);
  *sending = (struct dds_sending){0};
}
