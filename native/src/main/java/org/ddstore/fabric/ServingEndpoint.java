// SPDX-License-Identifier: Apache-2.0
package org.ddstore.fabric;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.ddstore.transport.OneSidedChoice;

/**
 * The endpoint at which other processes read memory of this one: a domain and an endpoint of its
 * own, and a thread that sleeps until a read arrives, if the provider needs one. Guarded by its
 * owner.
 */
final class ServingEndpoint implements AutoCloseable {
  private static final int SLEEP_MS = 100;
  private static final long PAUSE_NS = 10_000_000;
  private static final AtomicInteger THREADS = new AtomicInteger();

  private final FabricLibrary library;
  private final long handle;
  private final List<Byte> address;
  private final Thread progress;
  private volatile boolean stopped;

  ServingEndpoint(FabricLibrary library, OneSidedChoice choice) {
    this.library = library;
    byte[] failed = FabricLibrary.room();
    this.handle =
        FabricNative.openServing(
            library.handle(),
            FabricLibrary.text(choice.provider()),
            FabricLibrary.text(choice.networkInterface()),
            FabricLibrary.textOrNull(choice.host()),
            failed);
    if (handle < 0) {
      throw library.failure(
          "cannot open %s: %s".formatted(choice.detail(), FabricLibrary.text(failed)),
          (int) handle);
    }
    try {
      this.address = readAddress();
      this.progress = new Thread(this::serve, "ddstore-fabric-serve-" + THREADS.incrementAndGet());
      progress.setDaemon(true);
      progress.start();
    } catch (RuntimeException | Error e) {
      FabricNative.closeServing(handle);
      throw e;
    }
  }

  private List<Byte> readAddress() {
    byte[] room = FabricLibrary.room();
    int bytes = FabricNative.address(handle, room);
    if (bytes < 0) {
      throw library.failure("fi_getname", bytes);
    }
    List<Byte> read = new ArrayList<>();
    for (int i = 0; i < bytes; i++) {
      read.add(room[i]);
    }
    return List.copyOf(read);
  }

  /** Returns the address in the form of the readers' address vectors. */
  List<Byte> address() {
    return address;
  }

  Registration register(ByteBuffer memory) {
    return Registration.of(library, handle, memory);
  }

  /** Serves reads; hardware serves them itself, but needs this thread for connections. */
  private void serve() {
    while (!stopped) {
      if (FabricNative.progress(handle, SLEEP_MS) < 0) {
        LockSupport.parkNanos(PAUSE_NS); // readers learn of the error by their own reads
      }
    }
  }

  /** Ends all reads in flight. Registrations at this endpoint must be closed before. */
  @Override
  public void close() {
    stopped = true;
    FabricNative.wake(handle);
    boolean interrupted = false;
    while (progress.isAlive()) {
      try {
        progress.join();
      } catch (InterruptedException e) {
        interrupted = true; // it sleeps for SLEEP_MS at most
      }
    }
    FabricNative.closeServing(handle);
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public String toString() {
    return "ServingEndpoint[%d bytes of address]".formatted(address.size());
  }
}
