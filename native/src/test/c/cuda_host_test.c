// SPDX-License-Identifier: Apache-2.0
#include "cuda_host.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { PAGE = 4096 };

static size_t (*fake_bytes)(void);
static int (*fake_contexts)(void);
static int (*fake_depth)(void);
static void (*fake_current)(int ordinal, int primary);

static void find_fake(void) {
  void *fake = dlopen(FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
  CHECK(fake != NULL);
  *(void **)&fake_bytes = dlsym(fake, "fake_cuda_bytes");
  *(void **)&fake_contexts = dlsym(fake, "fake_cuda_contexts");
  *(void **)&fake_depth = dlsym(fake, "fake_cuda_depth");
  *(void **)&fake_current = dlsym(fake, "fake_cuda_current");
  CHECK(fake_current != NULL);
  CHECK(fake_bytes != NULL && fake_contexts != NULL && fake_depth != NULL);
}

static void check_balance(size_t bytes, int contexts) {
  CHECK(fake_bytes() == bytes);
  CHECK(fake_contexts() == contexts);
  CHECK(fake_depth() == 0);
}

static void registers_and_unregisters_memory(void) {
  char reason[DDS_CUDA_REASON_BYTES] = "";
  struct dds_cuda *cuda = NULL;
  char *memory = aligned_alloc(PAGE, 4 * PAGE);
  CHECK(memory != NULL);
  CHECK(dds_cuda_open(FAKE_CUDA, 1, &cuda, reason) == 0);
  check_balance(0, 1);
  CHECK(dds_cuda_register(cuda, memory, PAGE, reason) == 0);
  CHECK(dds_cuda_register(cuda, memory + PAGE, 3 * PAGE, reason) == 0);
  check_balance(4 * PAGE, 1);
  CHECK(dds_cuda_register(cuda, memory, PAGE, reason) == 712);
  CHECK(strcmp(reason, "cuMemHostRegister: CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED (712)") == 0);
  CHECK(dds_cuda_unregister(cuda, memory, reason) == 0);
  CHECK(dds_cuda_unregister(cuda, memory, reason) == 713);
  CHECK(strcmp(reason, "cuMemHostUnregister: CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED (713)") == 0);
  CHECK(dds_cuda_unregister(cuda, memory + PAGE, reason) == 0);
  check_balance(0, 1);
  dds_cuda_close(cuda);
  check_balance(0, 0);
  free(memory);
}

static void refuses_devices_that_do_not_exist(void) {
  const int devices[] = {-1, 2, 1 << 30};
  for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++) {
    char reason[DDS_CUDA_REASON_BYTES] = "";
    char expected[DDS_CUDA_REASON_BYTES];
    struct dds_cuda *cuda = NULL;
    snprintf(expected, sizeof expected, "device %d outside [0, 2): the CUDA driver has 2 devices", devices[i]);
    CHECK(dds_cuda_open(FAKE_CUDA, devices[i], &cuda, reason) == -1);
    CHECK(cuda == NULL);
    CHECK(strcmp(reason, expected) == 0);
    check_balance(0, 0);
  }
  dds_cuda_close(NULL);
}

static void finds_the_current_device(void) {
  char reason[DDS_CUDA_REASON_BYTES] = "";
  struct dds_cuda_facts facts = {0};
  CHECK(dds_cuda_probe(FAKE_CUDA, &facts, reason) == 0);
  CHECK(facts.devices == 2 && facts.current == DDS_CUDA_NO_DEVICE);
  for (int primary = 0; primary < 2; primary++) {
    fake_current(1, primary);
    CHECK(dds_cuda_probe(FAKE_CUDA, &facts, reason) == 0);
    CHECK(facts.current == 1);
  }
  fake_current(-1, 0);
  check_balance(0, 0);
}

static void check_no_driver(const char *library, const char *expected) {
  char reason[DDS_CUDA_REASON_BYTES] = "";
  struct dds_cuda *cuda = NULL;
  struct dds_cuda_facts facts = {0};
  CHECK(dds_cuda_open(library, 0, &cuda, reason) != 0);
  CHECK(cuda == NULL);
  CHECK(strncmp(reason, expected, strlen(expected)) == 0);
  CHECK(dds_cuda_probe(library, &facts, reason) != 0);
  CHECK(strncmp(reason, expected, strlen(expected)) == 0);
  check_balance(0, 0);
}

static void reports_what_fails(void) {
  char reason[DDS_CUDA_REASON_BYTES] = "";
  struct dds_cuda *cuda = NULL;
  struct dds_cuda_facts facts = {0};
  CHECK(dds_cuda_probe(FAKE_CUDA, &facts, reason) == 0);
  CHECK(facts.version == 12040);
  check_no_driver("libno-such-driver.so.1", "no CUDA driver: libno-such-driver.so.1: cannot open");
  check_no_driver("libc.so.6", "the driver has no cuInit");
  setenv("FAKE_CUDA_FAIL", "cuInit", 1);
  check_no_driver(FAKE_CUDA, "cuInit: CUDA_ERROR_NO_DEVICE (100)");
  setenv("FAKE_CUDA_FAIL", "", 1);
  setenv("FAKE_CUDA_DEVICES", "0", 1);
  check_no_driver(FAKE_CUDA, "the CUDA driver has no device");
  unsetenv("FAKE_CUDA_DEVICES");
  setenv("FAKE_CUDA_FAIL", "cuDevicePrimaryCtxRetain", 1);
  CHECK(dds_cuda_open(FAKE_CUDA, 0, &cuda, reason) == 2);
  CHECK(strcmp(reason, "cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY (2)") == 0);
  setenv("FAKE_CUDA_FAIL", "cuMemHostRegister", 1);
  CHECK(dds_cuda_open(FAKE_CUDA, 0, &cuda, reason) == 0);
  CHECK(dds_cuda_register(cuda, reason, sizeof reason, reason) == 2);
  CHECK(strcmp(reason, "cuMemHostRegister: CUDA_ERROR_OUT_OF_MEMORY (2)") == 0);
  check_balance(0, 1);
  dds_cuda_close(cuda);
  check_balance(0, 0);
}

int main(void) {
  find_fake();
  registers_and_unregisters_memory();
  refuses_devices_that_do_not_exist();
  finds_the_current_device();
  reports_what_fails();
  return 0;
}
