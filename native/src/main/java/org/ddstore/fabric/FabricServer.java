// SPDX-License-Identifier: Apache-2.0
package org.ddstore.fabric;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.ddstore.memory.Nonce;
import org.ddstore.memory.Segment;
import org.ddstore.transport.OneSidedChoice;
import org.ddstore.transport.PeerCalls;

/**
 * The segments that this process lets others read, and the service that answers where they are. A
 * question is the nonce of a segment; the answer is a {@link MemoryTable}.
 *
 * <p>A software provider answers reads from the owner's memory at any time, also after the memory
 * has been deregistered. Therefore a withdrawal closes the serving endpoint before it frees the
 * memory, which ends all reads in flight; the endpoint is opened again, under another address, at
 * the next export or question. For a device that serves reads itself, the deregistration alone is
 * sufficient.
 */
final class FabricServer implements PeerCalls.Service, AutoCloseable {
  private static final long PATIENCE_MS = 50;

  private final FabricLibrary library;
  private final OneSidedChoice choice;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<Nonce, ServedSegment> served = new HashMap<>(); // guarded by lock
  private ServingEndpoint end; // guarded by lock; null while nothing is served
  private boolean closed; // guarded by lock

  FabricServer(FabricLibrary library, OneSidedChoice choice) {
    this.library = library;
    this.choice = choice;
  }

  /** Registers the segment, once, and takes a reference to it. */
  void export(Segment segment) {
    lock.lock();
    try {
      if (closed || !segment.retain()) {
        throw new IllegalStateException("closed: " + (closed ? this : segment));
      }
      ServedSegment exported = new ServedSegment(segment);
      try {
        register(exported, open());
      } catch (RuntimeException | Error e) {
        if (served.isEmpty()) {
          closeEnd();
        }
        exported.release();
        throw e;
      }
      served.put(segment.nonce(), exported);
    } finally {
      lock.unlock();
    }
  }

  /** Withdraws the segment. Idempotent. Blocks for about 100 ms, until no process reads it. */
  void withdraw(Segment segment) {
    lock.lock();
    try {
      ServedSegment gone = served.remove(segment.nonce());
      if (gone == null) {
        return;
      }
      boolean ended = gone.deregister();
      if (!ended || !FabricOffer.isServedByDevice(choice.provider()) || served.isEmpty()) {
        closeEnd();
      }
      gone.release();
    } finally {
      lock.unlock();
    }
  }

  /** Registers all parts or none. */
  private void register(ServedSegment segment, ServingEndpoint at) {
    try {
      segment.register(at);
    } catch (RuntimeException | Error e) {
      if (!segment.deregister()) {
        closeEnd();
      }
      throw e;
    }
  }

  private ServingEndpoint open() {
    if (end == null) {
      end = new ServingEndpoint(library, choice);
    }
    return end;
  }

  private void closeEnd() {
    if (end != null) {
      served.values().forEach(ServedSegment::deregister);
      end.close();
      end = null;
    }
  }

  @Override
  public ByteBuffer answer(ByteBuffer question) {
    Nonce nonce = new Nonce(question.getLong(), question.getLong());
    if (question.hasRemaining()) {
      throw new IllegalArgumentException("question with " + question.remaining() + " excess bytes");
    }
    try {
      if (!lock.tryLock(PATIENCE_MS, TimeUnit.MILLISECONDS)) {
        return status(MemoryTable.BUSY);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return status(MemoryTable.BUSY);
    }
    try {
      ServedSegment wanted = served.get(nonce);
      if (wanted == null) {
        return status(MemoryTable.GONE);
      }
      ServingEndpoint at = open();
      if (!wanted.isRegistered()) {
        register(wanted, at);
      }
      return wanted.table(choice.means(), at).encode();
    } finally {
      lock.unlock();
    }
  }

  static ByteBuffer question(Nonce segment) {
    return ByteBuffer.allocate(2 * Long.BYTES)
        .putLong(segment.high())
        .putLong(segment.low())
        .flip();
  }

  private static ByteBuffer status(byte status) {
    return ByteBuffer.wrap(new byte[] {status});
  }

  /** Withdraws the remaining segments. Idempotent. */
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      List<ServedSegment> left = new ArrayList<>(served.values());
      closeEnd();
      served.clear();
      left.forEach(ServedSegment::release);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public String toString() {
    return "FabricServer[%s]".formatted(choice.means());
  }
}
