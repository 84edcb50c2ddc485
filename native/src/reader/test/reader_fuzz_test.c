// SPDX-License-Identifier: Apache-2.0
/*
 * Hostile handles, states, handshakes, replies and mapped files: whatever comes, a reader returns an error or rows,
 * within its deadline. The target has the form of libFuzzer, for DDS_FUZZ in CMakeLists.txt; otherwise main changes the
 * corpus below at random for the seconds of DDS_FUZZ_SECONDS, 2 by default, from the seed of DDS_FUZZ_SEED.
 */
#include "ddstore_reader.h"
#include "mapped_segment.h"
#include "owner.h"

#include <fcntl.h>
#include <sys/stat.h>

#define MOST_INPUT 4096
#define DEADLINE_MS 4

enum mode { HANDLE, STATE, HANDSHAKE, FIXED_REPLIES, RAGGED_REPLIES, MAPPED, MODES };

/* What the server of this process does with the connections that it accepts from now on. */
struct script {
  enum mode mode;
  uint8_t input[MOST_INPUT];
  size_t size;
};

static struct script script;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char json[4000];

static void *begin(struct owner *owner) {
  struct script *begun = malloc(sizeof *begun);
  (void)owner;
  CHECK(begun != NULL);
  pthread_mutex_lock(&lock);
  *begun = script;
  pthread_mutex_unlock(&lock);
  return begun;
}

/* Changes a reply: pairs of a position and a mask, and the last byte cuts it off. Returns what remains. */
static size_t change_bytes(const struct script *changes, uint8_t *bytes, size_t count) {
  for (size_t i = 0; i + 2 < changes->size; i += 3) {
    bytes[(changes->input[i] | (size_t)changes->input[i + 1] << 8) % count] ^= changes->input[i + 2];
  }
  return changes->size % 3 == 1 ? count * changes->input[changes->size - 1] / 256 : count;
}

static size_t greet(void *begun, uint8_t *answer, size_t count) {
  const struct script *changes = begun;
  if (changes->mode != HANDSHAKE) {
    return count;
  }
  size_t left = change_bytes(changes, answer, count);
  return left > 0 ? left - 1 : 0; /* never all of it */
}

static size_t change(struct owner *owner, void *begun, uint8_t *reply, size_t count) {
  const struct script *changes = begun;
  (void)owner;
  return changes->mode == HANDSHAKE ? 0 : change_bytes(changes, reply, count);
}

static struct owner fixed = {.begin = begin, .greet = greet, .change = change};
static struct owner ragged = {.ragged = 1, .begin = begin, .greet = greet, .change = change};

/* Reads once and checks what must hold of any result. Returns the code. */
static int read_rows(struct dds_reader *reader, int64_t deadline_ms) {
  int64_t indices[] = {3, 39, 3, 17, 0};
  uint8_t values[5 * FIXED_BYTES];
  int64_t offsets[6];
  struct dds_error error;
  struct dds_target target = {.values = values, .value_bytes = sizeof values, .offsets = offsets};
  int64_t begin = now_ms();
  int code = dds_reader_get_batch(reader, indices, 5, &target, 1, deadline_ms, &error);
  CHECK(now_ms() - begin < deadline_ms + 5000);
  CHECK(error.code == code && (code == DDS_OK) == (error.text[0] == '\0'));
  if (code == DDS_OK && dds_reader_field(reader, 0)->kind != DDS_FIXED) {
    for (int i = 0; i < 5; i++) {
      CHECK(offsets[i] <= offsets[i + 1] && (size_t)offsets[i + 1] <= sizeof values);
    }
  }
  return code;
}

#define PAGE 4096
#define DATA_BYTES 500
#define HEADER_BYTES 160

static char directory[120];

static void put_number(uint8_t *to, uint64_t value, int bytes) {
  for (int b = 0; b < bytes; b++) {
    to[b] = (uint8_t)(value >> 8 * b);
  }
}

static void write_file(const char *name, const uint8_t *bytes, size_t count) {
  char path[160];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  int file = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  CHECK(file >= 0 && write(file, bytes, count) == (ssize_t)count && close(file) == 0);
}

static void remove_files(void) {
  char path[160];
  for (int i = 0; i < 2; i++) {
    snprintf(path, sizeof path, "%s/%s", directory, i == 0 ? "s" : "s.offsets");
    unlink(path);
  }
  rmdir(directory);
}

/*
 * Writes the files of a ragged segment, with changes of its header and its offsets, and its handle. The offsets end
 * where the records do.
 */
static void write_mapped(const struct script *changes) {
  uint8_t data[PAGE + DATA_BYTES] = "DDSTSEG1";
  uint8_t index[PAGE + 8 * (ROWS + 3)] = "DDSTOFS1";
  static const uint8_t schema[] = {1, 0, 1, 0, 'x', DDS_BYTES, DDS_UINT8, 0};
  uint64_t size = 0;
  for (uint64_t row = 0; row < ROWS; row++) {
    put_number(index + PAGE + 8 * row, size, 8);
    put_number(data + PAGE + size, row % 9, 4);
    size += 4 + row % 9;
  }
  put_number(index + PAGE + 8 * ROWS, size, 8);
  put_number(index + PAGE + 8 * (ROWS + 2), size, 8);
  put_number(index + 24, ROWS, 8);
  put_number(index + 32, 1, 4);
  put_number(data + 8, 1, 4);
  put_number(data + 12, PAGE, 4);
  put_number(data + 32, ROWS, 8);
  put_number(data + 40, size, 8);
  put_number(data + 56, sizeof schema, 4);
  put_number(data + 72, dds_boot_id(), 8);
  memcpy(data + 128, schema, sizeof schema);
  if (changes->size > 0) {
    struct script rest = *changes;
    rest.size--;
    memmove(rest.input, rest.input + 1, rest.size);
    switch (changes->input[0] % 3) {
      case 0:
        change_bytes(&rest, data, HEADER_BYTES);
        break;
      case 1:
        change_bytes(&rest, index, HEADER_BYTES);
        break;
      default:
        change_bytes(&rest, index + PAGE, 8 * ROWS);
        change_bytes(&rest, data + PAGE, size);
    }
  }
  if (directory[0] == '\0') {
    snprintf(directory, sizeof directory, "/dev/shm/ddstore-%lu-%016" PRIx64 "-%ld-fuzz", (unsigned long)geteuid(),
             dds_boot_id(), (long)getpid());
    CHECK(mkdir(directory, 0700) == 0 && atexit(remove_files) == 0);
  }
  write_file("s", data, PAGE + size);
  write_file("s.offsets", index, sizeof index);
  snprintf(json, sizeof json,
           "{\"format\":\"ddstore-handle\",\"version\":1,\"name\":\"train\",\"store\":\"%032d\",\"state\":1,"
           "\"rows\":%d,\"digest\":\"\",\"recordBytes\":0,\"fields\":[{\"name\":\"x\",\"kind\":\"bytes\","
           "\"dtype\":\"uint8\",\"shape\":[]}],\"processes\":[],\"noPort\":\"a test\",\"ranks\":1,\"copies\":[[{"
           "\"firstRow\":0,\"rows\":%d,\"rank\":0,\"owner\":\"1@h\",\"bytes\":%d,\"nonce\":\"%032d\",\"boot\":"
           "\"%016" PRIx64
           "\",\"path\":\"%s/s\",\"process\":null}]],\"grant\":{\"label\":\"handle\",\"expiresMs\":null,"
           "\"key\":\"%064d\"}}",
           3, ROWS, ROWS, (int)size, 0, dds_boot_id(), directory, KEY_BYTE);
}

/* A state of version 1, which has no checksum. */
static const char STATE_TEXT[] =
    "{\"v\":1,\"e\":3,\"b\":7,\"n\":1000,\"u\":2,\"s\":\"shuffled(42)/512\",\"d\":\"1f3a9c04.0123456789abcdef\"}";

/* Reads a state where the one above is legal, or with a cast. */
static int read_state(const char *text, size_t size, size_t casts) {
  const char *cast = "x float32";
  struct dds_state here = {.rows = 1000,
                           .version = 2,
                           .sampling = "shuffled(42)/512",
                           .schema = "1f3a9c04",
                           .digest = "0123456789abcdef",
                           .casts = {.texts = &cast, .count = casts}};
  int64_t epoch = -1;
  int64_t batch = -1;
  struct dds_error error;
  int code = dds_state_resume(text, size, &here, &epoch, &batch, &error);
  CHECK(code == DDS_OK ? epoch >= 0 && batch >= 0 : error.code == code);
  return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct dds_reader *reader = NULL;
  struct dds_error error;
  if (fixed.port == 0) {
    owner_start(&fixed);
    owner_start(&ragged);
  }
  if (size == 0 || size > MOST_INPUT) {
    return 0;
  }
  enum mode mode = (enum mode)(data[0] % MODES);
  if (mode == HANDLE) {
    int code = dds_reader_open((const char *)data + 1, size - 1, data[0] & 4 ? DDS_PORTS_ONLY : 0, &reader, &error);
    CHECK((code == DDS_OK) == (reader != NULL) && error.code == code);
    dds_reader_close(reader);
    return 0;
  }
  if (mode == STATE) {
    CHECK(size > 1 || read_state(STATE_TEXT, strlen(STATE_TEXT), 0) == DDS_OK);
    read_state((const char *)data + 1, size - 1, size % 2);
    return 0;
  }
  pthread_mutex_lock(&lock);
  script.mode = mode;
  script.size = size - 1;
  memcpy(script.input, data + 1, size - 1);
  pthread_mutex_unlock(&lock);
  int port = mode == RAGGED_REPLIES ? ragged.port : fixed.port;
  if (mode == MAPPED) {
    write_mapped(&script);
  } else {
    write_handle(json, sizeof json, "train", mode == RAGGED_REPLIES, (int[]){port, port}, 1);
  }
  int opened = dds_reader_open(json, strlen(json), 0, &reader, &error);
  if (mode == MAPPED && size > 1 && opened != DDS_OK) {
    CHECK(reader == NULL);
    return 0; /* the file is refused, and there is no port */
  }
  CHECK(opened == DDS_OK);
  int code = read_rows(reader, size == 1 && mode != HANDSHAKE ? 5000 : DEADLINE_MS);
  CHECK(size > 1 || (code == DDS_OK) == (mode != HANDSHAKE)); /* an unchanged reply has the rows */
  dds_reader_close(reader);
  return 0;
}

#ifndef DDS_LIBFUZZER
static int64_t number_of(const char *name, int64_t otherwise) {
  const char *text = getenv(name);
  return text == NULL || *text == '\0' ? otherwise : strtoll(text, NULL, 10);
}

/* Makes an input: the handle or a state with some bytes changed, cut or repeated, or random changes of replies. */
static size_t make_input(uint8_t *input, unsigned *seed) {
  static const char digits[] = "0123456789[]{}\",:-aE.";
  input[0] = (uint8_t)(rand_r(seed) % (2 * MODES));
  if (input[0] % MODES > STATE) {
    size_t size = 1 + (size_t)(rand_r(seed) % 12);
    for (size_t i = 1; i < size; i++) {
      input[i] = (uint8_t)(i % 3 == 2 ? rand_r(seed) % 2 : 1 << rand_r(seed) % 8);
    }
    return size;
  }
  if (input[0] % MODES == STATE) {
    memcpy(json, STATE_TEXT, sizeof STATE_TEXT);
  } else {
    write_handle(json, sizeof json, "train", rand_r(seed) % 2, (int[]){fixed.port, ragged.port}, 1);
  }
  size_t length = strlen(json);
  memcpy(input + 1, json, length);
  for (int change = rand_r(seed) % 4; change >= 0; change--) {
    size_t at = 1 + (size_t)rand_r(seed) % length;
    size_t to = 1 + (size_t)rand_r(seed) % length;
    switch (rand_r(seed) % 3) {
      case 0:
        input[at] = (uint8_t)digits[(size_t)rand_r(seed) % (sizeof digits - 1)];
        break;
      case 1:
        input[at] = (uint8_t)rand_r(seed);
        break;
      default:
        memmove(input + to, input + at, 1 + length - (at > to ? at : to));
    }
  }
  return 1 + (rand_r(seed) % 4 == 0 ? (size_t)rand_r(seed) % length : length);
}

int main(void) {
  static uint8_t input[MOST_INPUT];
  unsigned seed = (unsigned)number_of("DDS_FUZZ_SEED", 1);
  int64_t end = now_ms() + 1000 * number_of("DDS_FUZZ_SECONDS", 2);
  int64_t inputs = 0;
  for (uint8_t mode = STATE; mode < MODES; mode++) {
    LLVMFuzzerTestOneInput(&mode, 1);
  }
  for (; now_ms() < end; inputs++) {
    LLVMFuzzerTestOneInput(input, make_input(input, &seed));
  }
  printf("%" PRId64 " inputs\n", inputs);
  owner_stop(&fixed);
  owner_stop(&ragged);
  return 0;
}
#endif
