// SPDX-License-Identifier: Apache-2.0
package org.ddstore.nativeio;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.ddstore.contract.Needed;
import org.ddstore.types.DDStoreException;

/**
 * A driver that the tests compile, {@code fake_cuda.c}: it completes copies as late as it may, and
 * counts what it was given. One for each JVM.
 */
final class FakeCuda {
  enum Count {
    CONTEXTS(0),
    REGISTERED_BYTES(1),
    ALLOCATIONS(2),
    EVENTS(3),
    STREAMS(4),
    VIOLATIONS(5),
    PINNED_COPIES(6),
    PAGEABLE_COPIES(7),
    DEPTH(8),
    STREAM_WAITS(9);

    private final int number;

    Count(int number) {
      this.number = number;
    }
  }

  private static final List<String> CALLS =
      List.of(
          "",
          "cuInit",
          "cuDevicePrimaryCtxRetain",
          "cuMemHostRegister",
          "cuMemAlloc",
          "cuMemFree",
          "cuMemcpyHtoDAsync",
          "cuStreamCreate",
          "cuStreamSynchronize",
          "cuStreamWaitEvent",
          "cuEventCreate",
          "cuEventRecord",
          "cuEventSynchronize");

  private static Path library;

  private FakeCuda() {}

  static synchronized void need() {
    Needed.check("libddstore.so", NativeLibrary.isLoaded(), NativeLibrary::description);
    if (library == null) {
      try {
        library = compile();
      } catch (IOException e) {
        throw new DDStoreException("the driver for tests cannot be compiled", e);
      }
      System.load(library.toString());
    }
    reset();
  }

  private static Path compile() throws IOException {
    Path directory = Files.createTempDirectory("fake-cuda");
    Path compiled = directory.resolve("libfake_cuda.so");
    String source = Path.of(System.getProperty("basedir"), "src/test/c/fake_cuda.c").toString();
    Process compiler =
        new ProcessBuilder(
                "cc", "-O1", "-shared", "-fPIC", "-o", compiled.toString(), source, "-lpthread")
            .inheritIO()
            .start();
    try {
      assertThat(compiler.waitFor(60, TimeUnit.SECONDS)).as("the compiler ends").isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DDStoreException("interrupted while the compiler runs", e);
    }
    assertThat(compiler.exitValue()).as("exit status of the compiler").isZero();
    compiled.toFile().deleteOnExit();
    return compiled;
  }

  static void use() {
    System.setProperty(CudaPinning.LIBRARY_PROPERTY, library.toString());
  }

  static void reset() {
    System.clearProperty(CudaPinning.LIBRARY_PROPERTY);
    fail(0, 0);
    devices(0);
    current(-1, 0);
  }

  static void fail(String call, int after) {
    int number = CALLS.indexOf(call);
    assertThat(number).as(call).isPositive();
    fail(number, after);
  }

  static void makeCurrent(int device) {
    current(device, 1);
  }

  static void makeOtherCurrent(int device) {
    current(device, 0);
  }

  static long count(Count what) {
    return count(what.number);
  }

  static void assertNothingLeft() {
    for (Count what :
        List.of(
            Count.CONTEXTS,
            Count.REGISTERED_BYTES,
            Count.ALLOCATIONS,
            Count.EVENTS,
            Count.STREAMS,
            Count.VIOLATIONS)) {
      assertThat(count(what)).as(what.name()).isZero();
    }
  }

  private static native long count(int what);

  private static native void fail(int call, int after);

  private static native void devices(int devices);

  private static native void current(int ordinal, int primary);
}
