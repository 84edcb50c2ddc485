// SPDX-License-Identifier: Apache-2.0
package org.ddstore.fabric;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.ddstore.memory.Nonce;
import org.ddstore.transport.PeerCalls;
import org.ddstore.transport.PeerGoneException;
import org.ddstore.transport.RemoteSegment;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.ProcessAddress;

/** The memory tables of segments: an owner is queried once, and again after a failure. */
final class RemoteMemories {
  /** A segment that no process serves. */
  private static final Nonce NO_SEGMENT = new Nonce(0, 0);

  private static final long PAUSE_NS = Duration.ofMillis(5).toNanos();

  private final PeerCalls calls;
  private final String means;
  private final Map<Nonce, RemoteMemory> known = new ConcurrentHashMap<>();

  /**
   * @param means transport name of this process
   */
  RemoteMemories(PeerCalls calls, String means) {
    this.calls = calls;
    this.means = means;
  }

  /**
   * Returns the memory of a segment. Blocks if its owner must be queried.
   *
   * @param silence limit for each answer
   * @throws PeerGoneException if the owner has ended, or no longer serves the segment
   * @throws DeadlineExceededException if there is no answer in time
   * @throws DDStoreException if the two processes cannot read from each other
   */
  RemoteMemory of(RemoteSegment segment, SilenceWatch silence, long deadlineNs) {
    RemoteMemory memory = known.get(segment.nonce());
    if (memory == null) {
      memory = ask(segment, silence, deadlineNs);
      RemoteMemory other = known.putIfAbsent(segment.nonce(), memory);
      memory = other == null ? memory : other;
    }
    return memory;
  }

  /** Discards a memory table, so that its owner is queried again. */
  void forget(RemoteMemory memory) {
    known.values().remove(memory);
  }

  void forget(ProcessAddress process) {
    known.values().removeIf(memory -> memory.process().equals(process));
  }

  /** Asks a process whether it answers. Does not block; fails if there is no answer in time. */
  CompletableFuture<?> probe(ProcessAddress process, Duration limit) {
    return calls.send(
        process, FabricServer.question(NO_SEGMENT), System.nanoTime() + limit.toNanos());
  }

  private RemoteMemory ask(RemoteSegment segment, SilenceWatch silence, long deadlineNs) {
    ProcessAddress process = segment.process();
    while (true) {
      long answerNs = silence.answerNs(process, deadlineNs);
      ByteBuffer answer = calls.call(process, FabricServer.question(segment.nonce()), answerNs);
      silence.answered(process);
      try {
        byte status = answer.get();
        if (status == MemoryTable.GONE) {
          throw new PeerGoneException(process, false);
        }
        if (status == MemoryTable.OK) {
          return new RemoteMemory(segment, checkMeans(process, MemoryTable.decode(answer)));
        }
      } catch (BufferUnderflowException e) {
        throw new DDStoreException("process " + process + " sent a truncated memory table", e);
      }
      LockSupport.parkNanos(PAUSE_NS);
      if (System.nanoTime() - deadlineNs > 0) {
        throw new DeadlineExceededException(
            "process " + process + " is still registering its memory");
      }
    }
  }

  private MemoryTable checkMeans(ProcessAddress process, MemoryTable table) {
    if (!table.means().equals(means)) {
      throw new DDStoreException(
          "provider mismatch: %s serves by %s, this process reads by %s: set spark.ddstore.fabric.provider to one that all hosts have"
              .formatted(process, table.means(), means));
    }
    return table;
  }
}
