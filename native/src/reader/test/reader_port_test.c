// SPDX-License-Identifier: Apache-2.0
/* Reads over data ports whose owners answer, are silent, fail, change their rows, or end. */
#include <errno.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "ddstore_reader.h"
#include "owner.h"

static char json[8000];
static struct dds_error error;

static struct dds_reader *open_named(const char *name, int ragged, const int *ports, int copies) {
  struct dds_reader *reader = NULL;
  write_handle(json, sizeof json, name, ragged, ports, copies);
  CHECK(dds_reader_open(json, strlen(json), 0, &reader, &error) == DDS_OK);
  return reader;
}

static struct dds_reader *open_reader(int ragged, const int *ports, int copies) {
  return open_named("train", ragged, ports, copies);
}

/* The number of a row in its segment, which the bytes of its record are. */
static int number_of(int64_t row) {
  return (int)(row < ROWS - 10 ? row : row - (ROWS - 10));
}

/* Reads rows and checks all of their bytes. Returns the code. */
static int read_rows(struct dds_reader *reader, const int64_t *rows, size_t count, int64_t deadline_ms) {
  uint8_t values[64 * FIXED_BYTES];
  int64_t offsets[65];
  struct dds_target target = {.values = values, .value_bytes = sizeof values, .offsets = offsets};
  int64_t begin = now_ms();
  int code = dds_reader_get_batch(reader, rows, count, &target, 1, deadline_ms, &error);
  CHECK(now_ms() - begin < deadline_ms + 5000);
  CHECK(error.code == code && (code == DDS_OK) == (error.text[0] == '\0'));
  int ragged = dds_reader_field(reader, 0)->kind != DDS_FIXED;
  for (size_t i = 0; code == DDS_OK && i < count; i++) {
    int64_t first = ragged ? offsets[i] : (int64_t)i * FIXED_BYTES;
    int64_t size = ragged ? offsets[i + 1] - first : FIXED_BYTES;
    CHECK(size == (ragged ? number_of(rows[i]) % 9 : FIXED_BYTES));
    for (int64_t b = 0; b < size; b++) {
      CHECK(values[first + b] == number_of(rows[i]));
    }
  }
  return code;
}

static const int64_t mixed[] = {3, 39, 3, 17, 0, 38, 17, 3, 31};
#define MIXED (sizeof mixed / sizeof *mixed)

static void reads_repeated_rows_in_any_order(int ragged) {
  struct owner a = {.ragged = ragged};
  struct owner b = {.ragged = ragged};
  owner_start(&a);
  owner_start(&b);
  struct dds_reader *reader = open_reader(ragged, (int[]){a.port, b.port}, 1);
  CHECK(read_rows(reader, (int64_t[]){5, 6, 5, 6}, 4, 5000) == DDS_OK);
  for (int i = 0; i < 50; i++) {
    CHECK(read_rows(reader, mixed, MIXED, 5000) == DDS_OK);
  }
  CHECK(a.connections == 1 && b.connections == 1);
  dds_reader_close(reader);
  owner_stop(&a);
  owner_stop(&b);
}

/* Both the first time and with an open connection, a process that says nothing is left for another copy. */
static size_t say_nothing(struct owner *owner, void *begun, uint8_t *reply, size_t count) {
  (void)begun;
  (void)reply;
  if (owner->requests > 1) {
    sleep(3);
    return 0;
  }
  return count;
}

static void leaves_silent_owners(void) {
  struct owner silent = {0};
  struct owner falls_silent = {.change = say_nothing};
  struct owner copy = {0};
  owner_listen(&silent);
  owner_start(&falls_silent);
  owner_start(&copy);
  struct dds_reader *reader = open_reader(0, (int[]){silent.port, falls_silent.port, copy.port, copy.port}, 2);
  CHECK(read_rows(reader, (int64_t[]){35}, 1, 1000) == DDS_OK && falls_silent.requests == 1);
  CHECK(read_rows(reader, mixed, MIXED, 1500) == DDS_OK);
  int64_t begin = now_ms();
  CHECK(read_rows(reader, mixed, MIXED, 10000) == DDS_OK);
  CHECK(falls_silent.requests == 2 && now_ms() - begin < 5000); /* they are not asked again at once */
  dds_reader_close(reader);
  /* The other process has all rows, too, and time enough, whichever segments it has at first. */
  for (int first = 0; first < 2; first++) {
    int other = copy.port;
    int ring[][4] = {{silent.port, other, other, silent.port}, {other, silent.port, silent.port, other}};
    reader = open_reader(0, ring[first], 2);
    CHECK(read_rows(reader, mixed, MIXED, 2000) == DDS_OK);
    dds_reader_close(reader);
  }
  reader = open_reader(0, (int[]){silent.port, copy.port}, 1);
  CHECK(read_rows(reader, mixed, MIXED, 300) == DDS_DEADLINE);
  CHECK(strstr(error.text, "no answer in time") != NULL);
  dds_reader_close(reader);
  close(silent.listener);
  owner_stop(&falls_silent);
  owner_stop(&copy);
}

static size_t fail_with_text(struct owner *owner, void *begun, uint8_t *reply, size_t count) {
  (void)owner;
  (void)begun;
  (void)count;
  static const char text[] = "disk\nof \033[2Jrows is broken";
  reply[0] = 6;
  memset(reply + 1, 0, 3);
  reply[4] = sizeof text - 1;
  memcpy(reply + 5, text, sizeof text - 1);
  return 5 + sizeof text - 1;
}

/* The rows of a process that fails come from another copy; those of others are not fetched again. */
static void moves_rows_of_failed_owners(void) {
  struct owner good = {0};
  struct owner fails = {.change = fail_with_text};
  struct owner copy = {0};
  owner_start(&good);
  owner_start(&fails);
  owner_start(&copy);
  struct dds_reader *reader = open_reader(0, (int[]){good.port, fails.port, copy.port, copy.port}, 2);
  CHECK(read_rows(reader, mixed, MIXED, 5000) == DDS_OK);
  CHECK(good.requests == 1 && fails.requests == 1 && copy.requests == 1);
  dds_reader_close(reader);
  reader = open_reader(0, (int[]){good.port, fails.port}, 1);
  good.requests = 0;
  CHECK(read_rows(reader, mixed, MIXED, 500) == DDS_DEADLINE);
  CHECK(strstr(error.text, "disk of  [2Jrows is broken") != NULL);
  CHECK(good.requests == 1 && fails.requests < 10);
  dds_reader_close(reader);
  owner_stop(&good);
  owner_stop(&fails);
  owner_stop(&copy);
}

static size_t change_twenty_times(struct owner *owner, void *begun, uint8_t *reply, size_t count) {
  (void)begun;
  reply[count - 64] = owner->requests <= 20;
  return count;
}

static void waits_for_changes_without_new_connections(int ragged) {
  struct owner owner = {.ragged = ragged, .change = change_twenty_times};
  owner_start(&owner);
  struct dds_reader *reader = open_reader(ragged, (int[]){owner.port, owner.port}, 1);
  CHECK(read_rows(reader, (int64_t[]){1, 2, 3}, 3, 10000) == DDS_OK);
  CHECK(owner.requests == 21 && owner.connections == 1);
  dds_reader_close(reader);
  owner_stop(&owner);
}

/* The error that says most is reported, whichever copy was asked last. */
static void tells_that_a_store_is_gone(void) {
  struct owner gone = {.proved = 2};
  struct owner ended = {0};
  owner_start(&gone);
  owner_start(&ended);
  owner_stop(&ended);
  struct owner silent = {0};
  owner_listen(&silent);
  for (int order = 0; order < 4; order++) {
    int other = order < 2 ? ended.port : silent.port;
    int first = order % 2 == 0 ? gone.port : other;
    int second = order % 2 == 0 ? other : gone.port;
    struct dds_reader *reader = open_reader(0, (int[]){first, first, second, second}, 2);
    CHECK(read_rows(reader, mixed, MIXED, 5000) == DDS_STORE_GONE);
    dds_reader_close(reader);
  }
  struct dds_reader *reader = open_reader(0, (int[]){ended.port, ended.port}, 1);
  CHECK(read_rows(reader, mixed, MIXED, 5000) == DDS_LOST);
  dds_reader_close(reader);
  close(silent.listener);
  owner_stop(&gone);
}

static size_t end_once(struct owner *owner, void *begun, uint8_t *reply, size_t count) {
  (void)begun;
  (void)reply;
  return owner->requests == 2 ? 0 : count;
}

/* One that ended a connection is asked again, also if the other copy always fails or is silent. */
static void comes_back_to_the_first_copy(int is_silent) {
  struct owner ends = {.change = end_once};
  struct owner other = {.change = fail_with_text};
  owner_start(&ends);
  if (is_silent) {
    owner_listen(&other);
  } else {
    owner_start(&other);
  }
  struct dds_reader *reader = open_reader(0, (int[]){ends.port, ends.port, other.port, other.port}, 2);
  CHECK(read_rows(reader, mixed, MIXED, 2000) == DDS_OK);
  CHECK(read_rows(reader, mixed, MIXED, 2000) == DDS_OK && ends.requests == 3);
  dds_reader_close(reader);
  owner_stop(&ends);
  if (is_silent) {
    close(other.listener);
  } else {
    owner_stop(&other);
  }
}

/* Errors of processes whose rows have arrived from others are not reported. */
static void tells_the_error_of_what_is_missing(void) {
  struct owner refuses = {.proved = 9};
  struct owner copy = {0};
  struct owner ended = {0};
  owner_start(&refuses);
  owner_start(&copy);
  owner_start(&ended);
  owner_stop(&ended);
  struct dds_reader *reader = open_reader(0, (int[]){refuses.port, ended.port, copy.port, ended.port}, 2);
  CHECK(read_rows(reader, mixed, MIXED, 5000) == DDS_LOST);
  CHECK(read_rows(reader, mixed, 1, 5000) == DDS_OK);
  dds_reader_close(reader);
  owner_stop(&refuses);
  owner_stop(&copy);
}

/* A child goes on by connections of its own, also after a time without descriptors. */
static void goes_on_after_fork(void) {
  struct owner owner = {0};
  owner_start(&owner);
  struct dds_reader *reader = open_reader(0, (int[]){owner.port, owner.port}, 1);
  CHECK(read_rows(reader, mixed, MIXED, 5000) == DDS_OK);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    struct rlimit before;
    struct rlimit none = {.rlim_cur = 3};
    CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
    none.rlim_max = before.rlim_max;
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    CHECK(read_rows(reader, mixed, MIXED, 200) == DDS_SYSTEM);
    CHECK(strstr(error.text, strerror(EMFILE)) != NULL);
    CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK(read_rows(reader, mixed, MIXED, 5000) == DDS_OK);
    dds_reader_close(reader);
    raise(SIGKILL); /* at an exit, Valgrind reports the memory of the threads that a fork leaves behind */
  }
  for (int i = 0; i < 20; i++) {
    CHECK(read_rows(reader, mixed, MIXED, 5000) == DDS_OK);
  }
  int status = 1;
  CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  CHECK(read_rows(reader, mixed, MIXED, 5000) == DDS_OK && owner.connections == 2);
  dds_reader_close(reader);
  owner_stop(&owner);
}

static void ignore(int signal) {
  (void)signal;
}

static void is_not_disturbed_by_signals(void) {
  struct owner owner = {.ragged = 1};
  owner_start(&owner);
  struct sigaction action = {.sa_handler = ignore};
  struct itimerval often = {.it_interval = {.tv_usec = 200}, .it_value = {.tv_usec = 200}};
  CHECK(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &often, NULL) == 0);
  for (int i = 0; i < 100; i++) {
    struct dds_reader *reader = open_reader(1, (int[]){owner.port, owner.port}, 1);
    CHECK(read_rows(reader, mixed, MIXED, 20000) == DDS_OK);
    dds_reader_close(reader);
  }
  often = (struct itimerval){0};
  CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
  owner_stop(&owner);
}

static size_t end_at_once(struct owner *owner, void *begun, uint8_t *reply, size_t count) {
  (void)begun;
  (void)reply;
  return owner->requests == 5 ? 0 : count;
}

/* Starts an owner in a process of its own, before this one has other threads. Returns the process. */
static pid_t start_process(int *port) {
  int pipes[2];
  CHECK(pipe(pipes) == 0);
  pid_t process = fork();
  CHECK(process >= 0);
  if (process == 0) {
    static struct owner owner;
    CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
    owner_start(&owner);
    CHECK(write(pipes[1], &owner.port, sizeof owner.port) == sizeof owner.port);
    pause();
    _exit(0);
  }
  CHECK(read(pipes[0], port, sizeof *port) == sizeof *port);
  close(pipes[0]);
  close(pipes[1]);
  return process;
}

/* An owner that closes a connection and takes the next; and one that is killed while it is read from. */
static void goes_on_after_an_end(pid_t process, int port) {
  struct owner closes = {.change = end_at_once};
  struct owner copy = {0};
  owner_start(&closes);
  owner_start(&copy);
  struct dds_reader *reader = open_reader(0, (int[]){closes.port, closes.port}, 1);
  for (int i = 0; i < 10; i++) {
    CHECK(read_rows(reader, mixed, MIXED, 5000) == DDS_OK);
  }
  CHECK(closes.connections == 2);
  dds_reader_close(reader);
  reader = open_reader(0, (int[]){port, port, copy.port, copy.port}, 2);
  struct dds_reader *alone = open_reader(0, (int[]){port, port}, 1);
  for (int i = 0; i < 100; i++) {
    if (i == 50) {
      CHECK(copy.requests == 0 && read_rows(alone, mixed, MIXED, 5000) == DDS_OK);
      CHECK(kill(process, SIGKILL) == 0);
    }
    CHECK(read_rows(reader, mixed, MIXED, 5000) == DDS_OK);
  }
  CHECK(waitpid(process, NULL, 0) == process);
  CHECK(read_rows(reader, mixed, MIXED, 5000) == DDS_OK && copy.requests > 0);
  CHECK(read_rows(alone, mixed, MIXED, 5000) == DDS_LOST);
  dds_reader_close(reader);
  dds_reader_close(alone);
  owner_stop(&closes);
  owner_stop(&copy);
}

static void gives_lines_of_whole_characters(void) {
  char name[600] = "a\\nb";
  for (int i = 0; i < 240; i++) {
    strcat(name, "\xc3\xa9");
  }
  struct dds_reader *reader = open_named(name, 0, (int[]){1, 1}, 1);
  const int64_t outside[] = {ROWS, ROWS * 10}; /* the texts differ by one byte */
  for (int more = 0; more < 2; more++) {
    CHECK(read_rows(reader, &outside[more], 1, 1000) == DDS_INVALID_ARGUMENT);
    CHECK(strchr(error.text, '\n') == NULL && strstr(error.text, "a b\xc3\xa9") != NULL);
    CHECK(strlen(error.text) >= sizeof error.text - 2 && (uint8_t)error.text[strlen(error.text) - 1] == 0xa9);
  }
  dds_reader_close(reader);
}

int main(void) {
  int port = 0;
  pid_t process = start_process(&port);
  for (int ragged = 0; ragged < 2; ragged++) {
    reads_repeated_rows_in_any_order(ragged);
    waits_for_changes_without_new_connections(ragged);
  }
  leaves_silent_owners();
  moves_rows_of_failed_owners();
  for (int is_silent = 0; is_silent < 2; is_silent++) {
    comes_back_to_the_first_copy(is_silent);
  }
  tells_that_a_store_is_gone();
  tells_the_error_of_what_is_missing();
  goes_on_after_fork();
  is_not_disturbed_by_signals();
  goes_on_after_an_end(process, port);
  gives_lines_of_whole_characters();
  return 0;
}
