// SPDX-License-Identifier: Apache-2.0
#include "remote_rows.h"

#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "big_endian.h"
#include "clock.h"
#include "port.h"
#include "reply_receiver.h"

/* Limits of docs/handle.md. */
#define MOST_ROWS (16 << 10)
#define MOST_BYTES (1 << 20)
#define ALIGNMENT 64
#define STATUS_OK 0
#define STATUS_CHANGING 1
#define STATUS_GONE 2
#define STATUS_FAILED 6

/* Number of requests to a process that are not answered yet. */
#define WINDOW 8

#define NS_PER_MS INT64_C(1000000)
#define MOST_ARRIVALS 64

/* Pauses before another attempt, the first and the longest: after an error of a process, and while rows change. */
#define RETRY_NS (50 * NS_PER_MS)
#define MOST_RETRY_NS (1000 * NS_PER_MS)
#define CHANGING_NS NS_PER_MS
#define MOST_CHANGING_NS (50 * NS_PER_MS)

/* Longest silence of a process if others have its rows, and how long those are preferred then. */
#define MOST_SILENCE_NS (1500 * NS_PER_MS)
#define AVOID_NS (30000 * NS_PER_MS)

/* A request for the rows [from, to) of a fetch: bytes of their records after skip, to position at of the memory. */
struct piece {
  size_t from;
  size_t to;
  int lengths;
  int64_t skip;
  int64_t bytes;
  int64_t at;
};

/* How a process has failed in a call: it can be asked again, or not. */
enum failure { NOT_FAILED, FAILED_FOR_NOW, FAILED_FOR_GOOD };

/*
 * The fetch of the rows of one process.
 *
 * rows        rows by segment: count of them
 * starts      position of each record in the memory, and the end; known up to row lengths_got for ragged records
 * next_row    the next piece of the data, with next_byte; asked: the number of rows whose lengths are requested
 * window      requests that are not answered, the oldest at window_first
 * head, tail  memory for the parts of the reply that is being received
 * again       whether rows have changed: the requests of the window are answered, and then all rows requested again
 * placed      number of its rows that have places in the batch
 * missed      whether the process had not a segment in this call
 * retry_ns    time of the next attempt, 0: no pause; pause_ns: the last pause, changing_ns: the last for changes
 * problem     its last error in this call
 * is_old      whether the channel is of an earlier call, and has brought nothing in this one
 * has_others  whether processes that have not failed for good have all of its rows, too
 * heard_ns    time of the last answer, or of the first request after it
 * avoid_ns    until then, the process is asked last, because it was silent
 */
struct fetch {
  const struct dds_process *process;
  size_t number;
  int socket;
  struct dds_reply_channel *channel;
  struct dds_remote_row *rows;
  size_t room;
  size_t count;
  int64_t *starts;
  size_t starts_room;
  uint8_t *memory;
  size_t memory_bytes;
  size_t asked;
  size_t lengths_got;
  size_t next_row;
  int64_t next_byte;
  int64_t bytes_got;
  struct piece window[WINDOW];
  size_t window_first;
  size_t window_count;
  int expects;
  int receives_lengths;
  uint8_t *head;
  size_t head_bytes;
  uint8_t *tail;
  size_t tail_bytes;
  uint8_t *out;
  size_t out_bytes;
  size_t out_at;
  size_t out_end;
  enum failure failure;
  struct dds_error problem;
  int is_old;
  int active;
  int done;
  int again;
  size_t placed;
  int missed;
  int64_t retry_ns;
  int64_t pause_ns;
  int64_t changing_ns;
  int64_t heard_ns;
  int has_others;
  int64_t avoid_ns;
};

/*
 * fetches   one for each process; active: the numbers of those of this round
 * choice    copy that each segment is read from
 * versions  version of each segment at its first piece; UINT64_MAX: none yet
 * next      position of the next row of each segment, while rows are sorted
 * kept      memory of fetches of earlier rounds, which the batch has places in
 */
struct dds_remote {
  const struct dds_handle *handle;
  struct dds_reply_receiver *receiver;
  struct fetch *fetches;
  size_t *active;
  size_t active_count;
  size_t *choice;
  uint64_t *versions;
  size_t *next;
  struct dds_remote_row *sorted;
  size_t sorted_room;
  uint8_t **kept;
  size_t kept_count;
};

static int out_of_memory(struct dds_error *error) {
  return dds_fail(error, DDS_OUT_OF_MEMORY, "no memory for rows of other processes");
}

static void free_parts(struct dds_remote *remote) {
  free(remote->fetches);
  free(remote->active);
  free(remote->choice);
  free(remote->versions);
  free(remote->next);
  free(remote->sorted);
  free(remote->kept);
  free(remote);
}

struct dds_remote *dds_remote_open(const struct dds_handle *handle) {
  struct dds_remote *remote = calloc(1, sizeof *remote);
  if (remote == NULL) {
    return NULL;
  }
  remote->handle = handle;
  remote->fetches = calloc(handle->process_count + 1, sizeof *remote->fetches);
  remote->active = calloc(handle->process_count + 1, sizeof *remote->active);
  remote->choice = calloc(handle->segment_count, sizeof *remote->choice);
  remote->versions = calloc(handle->segment_count, sizeof *remote->versions);
  remote->next = calloc(handle->segment_count + 1, sizeof *remote->next);
  if (remote->fetches == NULL || remote->active == NULL || remote->choice == NULL || remote->versions == NULL ||
      remote->next == NULL) {
    free_parts(remote);
    return NULL;
  }
  for (size_t p = 0; p < handle->process_count; p++) {
    remote->fetches[p].process = &handle->processes[p];
    remote->fetches[p].number = p;
    remote->fetches[p].socket = -1;
  }
  return remote;
}

static void disconnect(struct dds_remote *remote, struct fetch *fetch) {
  if (fetch->channel != NULL) {
    dds_reply_receiver_remove(remote->receiver, fetch->channel);
    fetch->channel = NULL;
  }
  if (fetch->socket >= 0) {
    close(fetch->socket);
    fetch->socket = -1;
  }
  fetch->expects = 0;
  fetch->window_count = 0;
  fetch->out_at = fetch->out_end = 0;
}

static void free_kept(struct dds_remote *remote) {
  while (remote->kept_count > 0) {
    free(remote->kept[--remote->kept_count]);
  }
}

void dds_remote_close(struct dds_remote *remote) {
  if (remote == NULL) {
    return;
  }
  for (size_t p = 0; p < remote->handle->process_count; p++) {
    struct fetch *fetch = &remote->fetches[p];
    disconnect(remote, fetch);
    free(fetch->rows);
    free(fetch->starts);
    free(fetch->memory);
    free(fetch->head);
    free(fetch->tail);
    free(fetch->out);
  }
  free_kept(remote);
  dds_reply_receiver_close(remote->receiver);
  free_parts(remote);
}

void dds_remote_forked(struct dds_remote *remote) {
  /* The set of sockets is shared with the parent: it is closed here without a change of its content. */
  struct dds_reply_receiver *opened;
  for (size_t p = 0; p < remote->handle->process_count; p++) {
    struct fetch *fetch = &remote->fetches[p];
    if (fetch->socket >= 0) {
      close(fetch->socket);
      fetch->socket = -1;
    }
    fetch->channel = NULL;
    fetch->expects = 0;
    fetch->window_count = 0;
    fetch->out_at = fetch->out_end = 0;
  }
  dds_reply_receiver_close(remote->receiver);
  remote->receiver = dds_reply_receiver_open(-1, &opened) < 0 ? NULL : opened;
}

/* Brings rows into the order of their segments, and keeps the order within a segment. Returns whether there is memory.
 */
static int sort_by_segment(struct dds_remote *remote, struct dds_remote_row *rows, size_t count) {
  const size_t segments = remote->handle->segment_count;
  if (count > remote->sorted_room) {
    free(remote->sorted);
    remote->sorted = malloc(count * sizeof *remote->sorted);
    remote->sorted_room = remote->sorted == NULL ? 0 : count;
  }
  if (remote->sorted_room == 0 && count > 0) {
    return 0;
  }
  memset(remote->next, 0, (segments + 1) * sizeof *remote->next);
  for (size_t r = 0; r < count; r++) {
    remote->next[rows[r].segment + 1]++;
  }
  for (size_t s = 0; s < segments; s++) {
    remote->next[s + 1] += remote->next[s];
  }
  for (size_t r = 0; r < count; r++) {
    remote->sorted[remote->next[rows[r].segment]++] = rows[r];
  }
  memcpy(rows, remote->sorted, count * sizeof *rows);
  return 1;
}

static int64_t aligned(int64_t bytes) {
  return (bytes + ALIGNMENT - 1) & -(int64_t)ALIGNMENT;
}

/* Makes room. Returns whether there is memory; the content is lost. */
static int reserve(uint8_t **memory, size_t *have, size_t bytes) {
  if (bytes <= *have) {
    return 1;
  }
  free(*memory);
  size_t more = bytes < 4096 ? 4096 : bytes;
  *memory = malloc(more);
  *have = *memory == NULL ? 0 : more;
  return *memory != NULL;
}

static int is_ragged(const struct dds_remote *remote) {
  return remote->handle->record_bytes == 0;
}

/* Begins a fetch, or begins it again. */
static int restart(struct dds_remote *remote, struct fetch *fetch, struct dds_error *error) {
  fetch->asked = is_ragged(remote) ? 0 : fetch->count;
  fetch->lengths_got = fetch->asked;
  fetch->next_row = 0;
  fetch->next_byte = 0;
  fetch->bytes_got = 0;
  fetch->done = 0;
  fetch->again = 0;
  fetch->retry_ns = 0;
  fetch->heard_ns = dds_now_ns();
  fetch->starts[0] = 0;
  for (size_t r = 0; r < fetch->count; r++) {
    remote->versions[fetch->rows[r].segment] = UINT64_MAX;
    fetch->starts[r + 1] = fetch->starts[r] + remote->handle->record_bytes;
  }
  return is_ragged(remote) || reserve(&fetch->memory, &fetch->memory_bytes, (size_t)fetch->starts[fetch->count])
             ? DDS_OK
             : out_of_memory(error);
}

/* Returns the number of different segments of some rows, which are sorted. */
static size_t segments_of(const struct fetch *fetch, const struct piece *piece) {
  size_t count = 1;
  for (size_t r = piece->from + 1; r < piece->to; r++) {
    count += fetch->rows[r].segment != fetch->rows[r - 1].segment;
  }
  return count;
}

/* Appends a request to what is to be sent. Each row is a run. */
static int put_request(struct dds_remote *remote, struct fetch *fetch, const struct piece *piece) {
  size_t segments = segments_of(fetch, piece);
  size_t bytes = 4 + 13 + segments * (DDS_ID_BYTES + 8) + 8 * (piece->to - piece->from);
  size_t pending = fetch->out_end - fetch->out_at;
  if (fetch->out_end + bytes > fetch->out_bytes) {
    uint8_t *larger = malloc(2 * (pending + bytes));
    if (larger == NULL) {
      return 0;
    }
    if (pending > 0) {
      memcpy(larger, fetch->out + fetch->out_at, pending);
    }
    free(fetch->out);
    fetch->out = larger;
    fetch->out_bytes = 2 * (pending + bytes);
    fetch->out_at = 0;
    fetch->out_end = pending;
  }
  uint8_t *to = dds_put_big(fetch->out + fetch->out_end, bytes - 4, 4);
  *to++ = (uint8_t)piece->lengths;
  to = dds_put_big(dds_put_big(dds_put_big(to, (uint64_t)piece->skip, 4), (uint64_t)piece->bytes, 4), segments, 4);
  for (size_t first = piece->from; first < piece->to;) {
    size_t end = first + 1;
    size_t segment = fetch->rows[first].segment;
    while (end < piece->to && fetch->rows[end].segment == segment) {
      end++;
    }
    const struct dds_segment_info *info = &remote->handle->copies[remote->choice[segment]].segments[segment];
    memcpy(to, info->nonce, DDS_ID_BYTES);
    to = dds_put_big(dds_put_big(to + DDS_ID_BYTES, end - first, 4), end - first, 4);
    for (; first < end; first++) {
      to = dds_put_big(to, (uint64_t)fetch->rows[first].row, 8);
    }
  }
  fetch->out_end += bytes;
  return 1;
}

/* Sets the next piece. Returns 0 if there is none before more replies arrive. */
static int next_piece(struct fetch *fetch, struct piece *piece) {
  if (fetch->again) {
    return 0;
  }
  if (fetch->asked < fetch->count) {
    size_t to = fetch->asked + MOST_ROWS < fetch->count ? fetch->asked + MOST_ROWS : fetch->count;
    int all = fetch->asked == 0 && to == fetch->count;
    *piece = (struct piece){.from = fetch->asked, .to = to, .lengths = 1, .bytes = all ? MOST_BYTES : 0};
    fetch->asked = to;
    return 1;
  }
  if (fetch->lengths_got < fetch->count || fetch->next_byte >= fetch->starts[fetch->count]) {
    return 0;
  }
  while (fetch->starts[fetch->next_row + 1] <= fetch->next_byte) {
    fetch->next_row++;
  }
  int64_t at = fetch->next_byte;
  size_t to = fetch->next_row;
  while (to < fetch->count && to - fetch->next_row < MOST_ROWS && fetch->starts[to] < at + MOST_BYTES) {
    to++;
  }
  int64_t bytes = fetch->starts[to] - at < MOST_BYTES ? fetch->starts[to] - at : MOST_BYTES;
  *piece = (struct piece){
      .from = fetch->next_row, .to = to, .skip = at - fetch->starts[fetch->next_row], .bytes = bytes, .at = at};
  fetch->next_byte = at + bytes;
  return 1;
}

/* Expects the oldest reply of the window: its head with lengths, or all of it. Returns whether there is memory. */
static int expect(struct dds_remote *remote, struct fetch *fetch) {
  const struct piece *piece = &fetch->window[fetch->window_first];
  int64_t head = aligned(1 + (piece->lengths ? 4 * (int64_t)(piece->to - piece->from) : 0));
  int64_t tail = aligned(1 + 8 * (int64_t)segments_of(fetch, piece));
  if (!reserve(&fetch->head, &fetch->head_bytes, (size_t)head) ||
      !reserve(&fetch->tail, &fetch->tail_bytes, (size_t)tail)) {
    return 0;
  }
  struct iovec parts[DDS_REPLY_PARTS] = {{fetch->head, (size_t)head}, {NULL, 0}, {NULL, 0}};
  if (!piece->lengths) {
    parts[1] = (struct iovec){fetch->memory + piece->at, (size_t)piece->bytes};
    parts[2] = (struct iovec){fetch->tail, (size_t)tail};
  }
  fetch->receives_lengths = piece->lengths;
  fetch->expects = 1;
  dds_reply_receiver_expect(remote->receiver, fetch->channel, parts, 1);
  return 1;
}

/* Expects what follows the lengths. */
static void expect_rest(struct dds_remote *remote, struct fetch *fetch) {
  const struct piece *piece = &fetch->window[fetch->window_first];
  int64_t tail = aligned(1 + 8 * (int64_t)segments_of(fetch, piece));
  const struct iovec parts[DDS_REPLY_PARTS] = {
      {NULL, 0}, {fetch->memory + piece->at, (size_t)piece->bytes}, {fetch->tail, (size_t)tail}};
  fetch->receives_lengths = 0;
  dds_reply_receiver_expect(remote->receiver, fetch->channel, parts, 1);
}

/* Sends requests as far as the window and the socket take them. Returns DDS_OK or an error of the socket. */
static int send_requests(struct dds_remote *remote, struct fetch *fetch, struct dds_error *error) {
  struct piece piece;
  while (fetch->window_count < WINDOW && next_piece(fetch, &piece)) {
    if (!put_request(remote, fetch, &piece)) {
      return out_of_memory(error);
    }
    if (fetch->window_count == 0) {
      fetch->heard_ns = dds_now_ns();
    }
    fetch->window[(fetch->window_first + fetch->window_count++) % WINDOW] = piece;
  }
  while (fetch->out_at < fetch->out_end) {
    ssize_t sent = dds_reply_receiver_send(fetch->channel, fetch->out + fetch->out_at, fetch->out_end - fetch->out_at);
    if (sent < 0) {
      return dds_fail(error, DDS_SYSTEM, "data port %s:%d: %s", fetch->process->host, fetch->process->port,
                      strerror((int)-sent));
    }
    if (sent == 0) {
      break; /* the rest follows: replies arrive, or the pause of the loop ends */
    }
    fetch->out_at += (size_t)sent;
  }
  if (fetch->out_at == fetch->out_end) {
    fetch->out_at = fetch->out_end = 0;
  }
  if (fetch->window_count > 0 && !fetch->expects && !expect(remote, fetch)) {
    return out_of_memory(error);
  }
  return DDS_OK;
}

static int64_t big_at(const uint8_t *from, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; i++) {
    value = value << 8 | from[i];
  }
  return bytes == 4 ? (int32_t)value : (int64_t)value;
}

static int broken(struct fetch *fetch, struct dds_error *error, const char *what) {
  return dds_fail(error, DDS_SYSTEM, "data port %s:%d: %s", fetch->process->host, fetch->process->port, what);
}

/* Takes the lengths of rows, and expects the rest of their reply. */
static int take_lengths(struct dds_remote *remote, struct fetch *fetch, struct dds_error *error) {
  struct piece *piece = &fetch->window[fetch->window_first];
  for (size_t r = piece->from; r < piece->to; r++) {
    int64_t bytes = big_at(fetch->head + 1 + 4 * (r - piece->from), 4);
    if (bytes < 0 || bytes > remote->handle->copies[0].segments[fetch->rows[r].segment].bytes) {
      return broken(fetch, error, "a record of an illegal size");
    }
    fetch->starts[r + 1] = fetch->starts[r] + bytes;
  }
  fetch->lengths_got = piece->to;
  if (fetch->lengths_got == fetch->count) {
    size_t bytes = (size_t)fetch->starts[fetch->count];
    if (!reserve(&fetch->memory, &fetch->memory_bytes, bytes + 1)) {
      return out_of_memory(error);
    }
  }
  if (piece->bytes > 0) { /* the only piece with lengths */
    int64_t all = fetch->starts[fetch->count];
    piece->bytes = all < piece->bytes ? all : piece->bytes;
    fetch->next_byte = piece->bytes;
  } else if (fetch->memory == NULL && !reserve(&fetch->memory, &fetch->memory_bytes, 1)) {
    return out_of_memory(error);
  }
  expect_rest(remote, fetch);
  return DDS_OK;
}

/* Takes the end of a reply, which says whether rows changed meanwhile. */
static void take_tail(struct dds_remote *remote, struct fetch *fetch) {
  const struct piece *piece = &fetch->window[fetch->window_first];
  fetch->again |= fetch->tail[0] != STATUS_OK;
  const uint8_t *version = fetch->tail + 1;
  for (size_t r = piece->from; r < piece->to; r++) {
    if (r > piece->from && fetch->rows[r].segment == fetch->rows[r - 1].segment) {
      continue;
    }
    uint64_t *known = &remote->versions[fetch->rows[r].segment];
    uint64_t got = (uint64_t)big_at(version, 8);
    fetch->again |= *known != UINT64_MAX && *known != got;
    *known = got;
    version += 8;
  }
  fetch->bytes_got += piece->bytes;
  fetch->window_first = (fetch->window_first + 1) % WINDOW;
  fetch->window_count--;
  fetch->expects = 0;
}

/* Goes on after a reply: the fetch is done, or begins again after a pause if rows have changed. */
static int go_on(struct dds_remote *remote, struct fetch *fetch, struct dds_error *error) {
  if (fetch->window_count > 0) {
    return DDS_OK;
  }
  if (!fetch->again) {
    fetch->done = fetch->lengths_got == fetch->count && fetch->bytes_got == fetch->starts[fetch->count];
    return DDS_OK;
  }
  int code = restart(remote, fetch, error);
  int64_t longer = 2 * fetch->changing_ns;
  fetch->changing_ns = longer < CHANGING_NS ? CHANGING_NS : longer > MOST_CHANGING_NS ? MOST_CHANGING_NS : longer;
  fetch->retry_ns = dds_now_ns() + fetch->changing_ns;
  return code;
}

/*
 * A process has no such segment. The first time the channel is opened again: if the store was dropped, the handshake
 * says so. Otherwise its rows have moved.
 */
static int miss_segment(struct fetch *fetch, struct dds_error *error) {
  if (!fetch->missed) {
    fetch->missed = 1;
    return broken(fetch, error, "a segment is gone");
  }
  return dds_fail(error, DDS_LOST, "they have left the process at %s:%d: read the handle again", fetch->process->host,
                  fetch->process->port);
}

/* Returns a byte of the reply that is being received, wherever it was put. */
static uint8_t byte_at(const struct fetch *fetch, size_t at) {
  const struct piece *piece = &fetch->window[fetch->window_first];
  size_t head = (size_t)aligned(1 + (piece->lengths ? 4 * (int64_t)(piece->to - piece->from) : 0));
  if (at < head) {
    return fetch->head[at];
  }
  at -= head;
  if (piece->lengths) {
    return 0;
  }
  return at < (size_t)piece->bytes ? fetch->memory[piece->at + (int64_t)at] : fetch->tail[at - (size_t)piece->bytes];
}

/* A process cannot read the rows. Its reason is given as far as it has arrived. */
static int fail_as_told(struct fetch *fetch, int64_t received, struct dds_error *error) {
  char text[300] = "the process cannot read the rows: ";
  size_t end = strlen(text);
  if (fetch->head[0] != STATUS_FAILED) {
    return broken(fetch, error, "an unknown answer");
  }
  for (int64_t at = 5; at < received && end < sizeof text - 1; at++) {
    text[end++] = (char)byte_at(fetch, (size_t)at);
  }
  text[end] = '\0';
  return broken(fetch, error, text);
}

static int take_arrival(struct dds_remote *remote, struct fetch *fetch, const struct dds_arrival *arrival,
                        struct dds_error *error) {
  fetch->heard_ns = dds_now_ns();
  fetch->is_old &= arrival->kind == DDS_ARRIVED_END;
  switch (arrival->kind) {
    case DDS_ARRIVED_PART:
      return DDS_OK;
    case DDS_ARRIVED_WHOLE:
      if (fetch->receives_lengths) {
        return take_lengths(remote, fetch, error);
      }
      take_tail(remote, fetch);
      return go_on(remote, fetch, error);
    case DDS_ARRIVED_STATUS:
      return fetch->head[0] == STATUS_GONE ? miss_segment(fetch, error) : fail_as_told(fetch, arrival->bytes, error);
    default:
      return broken(fetch, error,
                    arrival->error == 0 ? "the process has closed the connection" : strerror((int)arrival->error));
  }
}

/* Returns the process that serves a segment of a copy if it has failed no worse than allowed, or -1. */
static int process_of(const struct dds_remote *remote, size_t copy, size_t segment, enum failure worst, int64_t now) {
  int process = remote->handle->copies[copy].segments[segment].process;
  if (process < 0 || remote->fetches[process].failure > worst ||
      (worst == NOT_FAILED && remote->fetches[process].avoid_ns > now)) {
    return -1;
  }
  return process;
}

/* Chooses the copy of a segment whose process has failed least, of several each in turn. Returns whether there is one.
 */
static int choose_copy(struct dds_remote *remote, size_t segment, int64_t now) {
  const size_t copies = remote->handle->copy_count;
  for (int pass = 0; pass < 3; pass++) { /* the second one takes also those that were silent in earlier calls */
    for (size_t c = 0; c < copies; c++) {
      size_t copy = (remote->choice[segment] + c + (pass == 2)) % copies;
      int process =
          process_of(remote, copy, segment, pass < 2 ? NOT_FAILED : FAILED_FOR_NOW, pass == 1 ? INT64_MAX : now);
      if (process >= 0) {
        remote->choice[segment] = copy;
        return 1;
      }
    }
  }
  return 0;
}

/* Returns whether other processes, which have not failed for good, have all rows of a fetch. */
static int others_have(const struct dds_remote *remote, const struct fetch *fetch) {
  for (size_t r = 0; r < fetch->count; r++) {
    int found = r > 0 && fetch->rows[r].segment == fetch->rows[r - 1].segment;
    for (size_t c = 0; !found && c < remote->handle->copy_count; c++) {
      int process = process_of(remote, c, fetch->rows[r].segment, FAILED_FOR_NOW, INT64_MAX);
      found = process >= 0 && (size_t)process != fetch->number;
    }
    if (!found) {
      return 0;
    }
  }
  return 1;
}

static int is_repeated(const struct dds_remote_row *rows, size_t r) {
  return r > 0 && rows[r].segment == rows[r - 1].segment && rows[r].row == rows[r - 1].row;
}

/* Makes a fetch one of this round. What it has received in an earlier one is kept. Returns whether there is memory. */
static int activate(struct dds_remote *remote, struct fetch *fetch) {
  if (fetch->placed > 0) {
    uint8_t **kept = realloc(remote->kept, (remote->kept_count + 1) * sizeof *kept);
    if (kept == NULL) {
      return 0;
    }
    remote->kept = kept;
    kept[remote->kept_count++] = fetch->memory;
    fetch->memory = NULL;
    fetch->memory_bytes = 0;
  }
  remote->active[remote->active_count++] = fetch->number;
  fetch->active = 1;
  fetch->count = 0;
  fetch->placed = 0;
  return 1;
}

/* Appends a row to a fetch. Returns whether there is memory. */
static int append(struct fetch *fetch, const struct dds_remote_row *row) {
  if (fetch->count == fetch->room) {
    size_t more = fetch->room < 64 ? 64 : 2 * fetch->room;
    struct dds_remote_row *rows = realloc(fetch->rows, more * sizeof *rows);
    if (rows == NULL) {
      return 0;
    }
    fetch->rows = rows;
    fetch->room = more;
  }
  fetch->rows[fetch->count++] = *row;
  return 1;
}

/* Begins a fetch of the rows that it was given. */
static int begin(struct dds_remote *remote, struct fetch *fetch, struct dds_error *error) {
  if (fetch->count + 1 > fetch->starts_room) {
    free(fetch->starts);
    fetch->starts = malloc((fetch->room + 1) * sizeof *fetch->starts);
    fetch->starts_room = fetch->starts == NULL ? 0 : fetch->room + 1;
    if (fetch->starts == NULL) {
      return out_of_memory(error);
    }
  }
  int code = restart(remote, fetch, error);
  fetch->has_others = others_have(remote, fetch);
  if (fetch->failure != NOT_FAILED) {
    fetch->pause_ns = fetch->pause_ns == 0                  ? RETRY_NS
                      : 2 * fetch->pause_ns < MOST_RETRY_NS ? 2 * fetch->pause_ns
                                                            : MOST_RETRY_NS;
    fetch->retry_ns = fetch->heard_ns + fetch->pause_ns;
  }
  return code;
}

/* Returns how much an error of a process says of why rows cannot be had. */
static int weight(int code) {
  return code == DDS_REFUSED ? 3 : code == DDS_LOST ? 2 : code != DDS_OK;
}

/* Returns the error that says most of why a segment cannot be had, of the processes that serve it. */
static const struct dds_error *worst_of(const struct dds_remote *remote, size_t segment) {
  static const struct dds_error none;
  const struct dds_error *worst = &none;
  for (size_t c = 0; c < remote->handle->copy_count; c++) {
    int process = remote->handle->copies[c].segments[segment].process;
    if (process >= 0 && weight(remote->fetches[process].problem.code) > weight(worst->code)) {
      worst = &remote->fetches[process].problem;
    }
  }
  return worst;
}

static int lose(const struct dds_remote *remote, size_t segment, struct dds_error *error) {
  const struct dds_error *worst = worst_of(remote, segment);
  if (worst->code != DDS_OK && worst->code != DDS_LOST) {
    return dds_fail(error, worst->code, "%s", worst->text);
  }
  return dds_fail(error, DDS_LOST, "rows [%lld, ..) of store \"%s\" are lost: %s",
                  (long long)remote->handle->copies[0].segments[segment].first_row, remote->handle->name,
                  worst->code == DDS_OK ? "no process serves them" : worst->text);
}

/* Distributes sorted rows over the fetches of their processes. */
static int distribute(struct dds_remote *remote, const struct dds_remote_row *rows, size_t count,
                      struct dds_error *error) {
  const struct dds_handle *handle = remote->handle;
  int64_t now = dds_now_ns();
  remote->active_count = 0;
  for (size_t r = 0; r < count; r++) {
    size_t segment = rows[r].segment;
    if (is_repeated(rows, r)) {
      continue;
    }
    if ((r == 0 || segment != rows[r - 1].segment) && !choose_copy(remote, segment, now)) {
      return lose(remote, segment, error);
    }
    struct fetch *fetch = &remote->fetches[handle->copies[remote->choice[segment]].segments[segment].process];
    if ((!fetch->active && !activate(remote, fetch)) || !append(fetch, &rows[r])) {
      return out_of_memory(error);
    }
  }
  int code = DDS_OK;
  for (size_t a = 0; code == DDS_OK && a < remote->active_count; a++) {
    code = begin(remote, &remote->fetches[remote->active[a]], error);
  }
  return code;
}

/* Returns until when a fetch waits after an answer: if others have its rows, for half of the time that is left then. */
static int64_t patient_until(const struct fetch *fetch, int64_t since_ns, int64_t end_ns) {
  int64_t half_ns = (end_ns - since_ns) / 2;
  return !fetch->has_others ? INT64_MAX / 2 : since_ns + (half_ns < MOST_SILENCE_NS ? half_ns : MOST_SILENCE_NS);
}

/* Opens the channel of a fetch if it has none, and sends what can be sent. */
static int proceed(struct dds_remote *remote, struct fetch *fetch, int64_t end_ns, struct dds_error *error) {
  int64_t now = dds_now_ns();
  if (fetch->window_count > 0 && now > patient_until(fetch, fetch->heard_ns, end_ns)) {
    return dds_fail(error, DDS_DEADLINE, "data port %s:%d: no answer in time", fetch->process->host,
                    fetch->process->port);
  }
  if (fetch->channel == NULL) {
    int64_t latest_ns = patient_until(fetch, now, end_ns);
    int code =
        dds_port_open(remote->handle, fetch->process, latest_ns < end_ns ? latest_ns : end_ns, &fetch->socket, error);
    if (code != DDS_OK) {
      fetch->socket = -1;
      return code;
    }
    fetch->channel = dds_reply_receiver_add(remote->receiver, fetch->socket, (int64_t)fetch->number);
    if (fetch->channel == NULL) {
      int problem = errno;
      close(fetch->socket);
      fetch->socket = -1;
      return problem == ENOMEM ? out_of_memory(error) : broken(fetch, error, strerror(problem));
    }
    fetch->is_old = 0;
  }
  return send_requests(remote, fetch, error);
}

/* Returns whether an error of one process cannot be mended by another attempt or process. */
static int is_final(int code) {
  return code == DDS_STORE_GONE || code == DDS_EXPIRED || code == DDS_REVOKED || code == DDS_OUT_OF_MEMORY;
}

/* Ends a fetch that has failed, unless its channel was idle and has ended: then it begins again. */
static int fail(struct dds_remote *remote, struct fetch *fetch, const struct dds_error *problem,
                struct dds_error *error) {
  disconnect(remote, fetch);
  if (is_final(problem->code)) {
    return dds_fail(error, problem->code, "%s", problem->text);
  }
  if (fetch->is_old && problem->code == DDS_SYSTEM) {
    return restart(remote, fetch, error);
  }
  fetch->active = 0;
  fetch->failure = weight(problem->code) > 1 ? FAILED_FOR_GOOD : FAILED_FOR_NOW;
  fetch->problem = *problem;
  if (problem->code == DDS_DEADLINE) {
    fetch->avoid_ns = dds_now_ns() + AVOID_NS;
  }
  return DDS_OK;
}

/* Ends a call; the error that says most of what is missing tells more. */
static int time_is_over(const struct dds_remote *remote, struct dds_error *error) {
  const struct dds_error *worst = NULL;
  for (size_t a = 0; a < remote->active_count; a++) {
    const struct fetch *fetch = &remote->fetches[remote->active[a]];
    const struct dds_error *problem = worst_of(remote, fetch->rows[0].segment);
    if (!fetch->done && (worst == NULL || weight(problem->code) > weight(worst->code))) {
      worst = problem;
    }
  }
  return dds_fail(error, DDS_DEADLINE, "rows of \"%s\" have not arrived in time%s%s", remote->handle->name,
                  worst == NULL || worst->code == DDS_OK ? "" : "; ", worst == NULL ? "" : worst->text);
}

/* Lets a fetch go on. *wait_ns is lowered to the time until it has to go on again. */
static int let_go_on(struct dds_remote *remote, struct fetch *fetch, int64_t end_ns, int64_t *wait_ns,
                     struct dds_error *error) {
  int64_t now = dds_now_ns();
  int64_t next_ns = fetch->retry_ns;
  if (next_ns > now) {
    fetch->heard_ns = next_ns;
  } else {
    struct dds_error problem = {0};
    if (proceed(remote, fetch, end_ns, &problem) != DDS_OK) {
      *wait_ns = 0;
      return fail(remote, fetch, &problem, error);
    }
    /* A socket that is full takes more soon. */
    next_ns = fetch->out_end > 0 ? now + NS_PER_MS : patient_until(fetch, fetch->heard_ns, end_ns) + NS_PER_MS;
  }
  int64_t left_ns = next_ns - now > NS_PER_MS ? next_ns - now : NS_PER_MS;
  *wait_ns = left_ns < *wait_ns ? left_ns : *wait_ns;
  return DDS_OK;
}

/*
 * Receives the rows of all fetches of this round, as far as they do not fail. Those that fail wait for the others:
 * their rows are then requested from other copies.
 */
static int receive_all(struct dds_remote *remote, int64_t end_ns, struct dds_error *error) {
  while (1) {
    int64_t wait_ns = 100 * NS_PER_MS;
    int missing = 0;
    for (size_t a = 0; a < remote->active_count; a++) {
      struct fetch *fetch = &remote->fetches[remote->active[a]];
      if (fetch->active && !fetch->done) {
        int code = let_go_on(remote, fetch, end_ns, &wait_ns, error);
        if (code != DDS_OK) {
          return code;
        }
        missing += fetch->active;
      }
    }
    if (missing == 0) {
      return DDS_OK;
    }
    int64_t left_ns = end_ns - dds_now_ns();
    if (left_ns <= 0) {
      return time_is_over(remote, error);
    }
    wait_ns = left_ns < wait_ns ? left_ns : wait_ns;
    struct dds_arrival arrivals[MOST_ARRIVALS];
    struct dds_receipt receipt;
    int count = dds_reply_receiver_receive(remote->receiver, (int)((wait_ns + NS_PER_MS - 1) / NS_PER_MS), INT_MAX, 0,
                                           arrivals, MOST_ARRIVALS, &receipt);
    if (count < 0) {
      return dds_fail(error, DDS_SYSTEM, "cannot wait for rows: %s", strerror(-count));
    }
    for (int a = 0; a < count; a++) {
      struct fetch *fetch = &remote->fetches[arrivals[a].number];
      struct dds_error problem = {0};
      if (take_arrival(remote, fetch, &arrivals[a], &problem) == DDS_OK) {
        continue;
      }
      if (!fetch->active || fetch->done) { /* an idle channel has ended */
        disconnect(remote, fetch);
        continue;
      }
      int code = fail(remote, fetch, &problem, error);
      if (code != DDS_OK) {
        return code;
      }
    }
  }
}

/*
 * Sets the places of the rows that have arrived, which are sorted as the fetches are. Moves the others to the front,
 * and returns their number.
 */
static size_t place(const struct dds_remote *remote, struct dds_remote_row *rows, size_t count, int64_t *addresses,
                    int32_t *sizes) {
  size_t left = 0;
  struct dds_remote_row before = {.row = -1};
  for (size_t r = 0; r < count; r++) {
    struct dds_remote_row row = rows[r];
    struct fetch *fetch =
        &remote->fetches[remote->handle->copies[remote->choice[row.segment]].segments[row.segment].process];
    if (!fetch->done) {
      rows[left++] = row;
      continue;
    }
    fetch->placed += before.segment != row.segment || before.row != row.row;
    before = row;
    size_t slot = fetch->placed - 1;
    addresses[row.at] = (int64_t)(intptr_t)(fetch->memory + fetch->starts[slot]);
    sizes[row.at] = (int32_t)(fetch->starts[slot + 1] - fetch->starts[slot]);
  }
  return left;
}

/* Begins a call. */
static void forgive(struct dds_remote *remote) {
  free_kept(remote);
  for (size_t p = 0; p < remote->handle->process_count; p++) {
    struct fetch *fetch = &remote->fetches[p];
    fetch->failure = NOT_FAILED;
    fetch->problem = (struct dds_error){0};
    fetch->is_old = fetch->channel != NULL;
    fetch->missed = 0;
    fetch->placed = 0;
    fetch->pause_ns = 0;
    fetch->changing_ns = 0;
  }
}

/* Ends a round: nothing is received any more. */
static void finish(struct dds_remote *remote) {
  for (size_t a = 0; a < remote->active_count; a++) {
    struct fetch *fetch = &remote->fetches[remote->active[a]];
    fetch->active = 0;
    if (fetch->window_count > 0) { /* a channel that owes replies */
      disconnect(remote, fetch);
    }
  }
}

int dds_remote_fetch(struct dds_remote *remote, struct dds_remote_row *rows, size_t count, int64_t *addresses,
                     int32_t *sizes, int64_t end_ns, struct dds_error *error) {
  int problem = remote->receiver == NULL ? dds_reply_receiver_open(-1, &remote->receiver) : 0;
  if (problem < 0) {
    remote->receiver = NULL;
    return dds_fail(error, DDS_SYSTEM, "cannot wait for rows: %s", strerror(-problem));
  }
  if (!sort_by_segment(remote, rows, count)) {
    return out_of_memory(error);
  }
  forgive(remote);
  while (count > 0) {
    int code = distribute(remote, rows, count, error);
    if (code == DDS_OK) {
      code = receive_all(remote, end_ns, error);
    }
    finish(remote);
    if (code != DDS_OK) {
      return code;
    }
    count = place(remote, rows, count, addresses, sizes);
  }
  return DDS_OK;
}
