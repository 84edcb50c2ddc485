// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;
import org.ddstore.collective.Communicator;
import org.ddstore.types.CollectiveInterruptedException;
import org.ddstore.types.RejectedArgumentException;

/** Work that rank 0 does for all ranks, which receive its result or failure. */
final class RankZero {
  private static final byte DONE = '+';
  private static final byte FAILED = '!';
  private static final byte CORRUPT = '#';
  private static final byte ILLEGAL = '?';
  private static final byte REJECTED = '*';
  private static final byte UNANSWERED = '~';

  private final Communicator group;
  private final Duration patience;

  /**
   * @param patience maximum time that the work takes
   */
  RankZero(Communicator group, Duration patience) {
    this.group = group;
    this.patience = patience;
  }

  Communicator group() {
    return group;
  }

  @FunctionalInterface
  interface Work {
    /** Returns the result for all ranks. */
    byte[] run() throws IOException;
  }

  /** Runs the work on rank 0. Collective. {@code what} begins the message of a failure. */
  byte[] run(String what, Work work) {
    byte[] result = group.rank() == 0 ? beforeDeadline(what, work) : null;
    group.awaitAll(what, patience.multipliedBy(2)); // longer than the work can take
    return resultOf(group.broadcast(result, 0));
  }

  /** Runs work on this rank alone, as {@link #run} does. Local. */
  byte[] runHere(String what, Work work) {
    return resultOf(beforeDeadline(what, work));
  }

  private static byte[] resultOf(byte[] all) {
    byte[] result = Arrays.copyOfRange(all, 1, all.length);
    switch (all[0]) {
      case DONE -> {
        return result;
      }
      case CORRUPT -> throw new CorruptCheckpointException(new String(result, UTF_8));
      case UNANSWERED -> throw new UnansweredException(new String(result, UTF_8));
      case ILLEGAL -> throw new IllegalArgumentException(new String(result, UTF_8));
      case REJECTED -> throw new RejectedArgumentException(new String(result, UTF_8));
      default -> throw new CheckpointException(new String(result, UTF_8));
    }
  }

  /** The storage did not respond in time; it may still do what was asked of it. */
  static final class UnansweredException extends CheckpointException {
    private static final long serialVersionUID = 1L;

    private UnansweredException(String message) {
      super(message);
    }
  }

  /** Runs the work on a thread of its own, which is interrupted at the deadline. */
  private byte[] beforeDeadline(String what, Work work) {
    AtomicReference<byte[]> outcome = new AtomicReference<>();
    Thread thread =
        new Thread(() -> outcome.set(outcome(what, work)), "ddstore-checkpoint-storage");
    thread.setDaemon(true);
    thread.start();
    try {
      thread.join(Math.max(1, patience.toMillis()));
      if (!thread.isAlive()) {
        return outcome.get();
      }
      thread.interrupt();
      String text =
          "%s: the storage did not respond within %,d ms: check it, or set a longer saveTimeout"
              .formatted(what, patience.toMillis());
      return tagged(UNANSWERED, text.getBytes(UTF_8));
    } catch (InterruptedException e) {
      thread.interrupt();
      Thread.currentThread().interrupt();
      throw new CollectiveInterruptedException("interrupted: " + what);
    }
  }

  private static byte[] outcome(String what, Work work) {
    try {
      return tagged(DONE, work.run());
    } catch (CorruptCheckpointException e) {
      return tagged(CORRUPT, e.getMessage().getBytes(UTF_8));
    } catch (CheckpointException e) {
      return tagged(FAILED, e.getMessage().getBytes(UTF_8));
    } catch (RejectedArgumentException e) {
      return tagged(REJECTED, e.getMessage().getBytes(UTF_8));
    } catch (IllegalArgumentException e) {
      return tagged(ILLEGAL, e.getMessage().getBytes(UTF_8));
    } catch (IOException e) {
      String text = "%s: %s: %s".formatted(what, StorageErrors.describe(e), StorageErrors.REMEDY);
      return tagged(FAILED, text.getBytes(UTF_8));
    } catch (RuntimeException | Error e) {
      return tagged(FAILED, "%s: %s".formatted(what, e).getBytes(UTF_8));
    }
  }

  private static byte[] tagged(byte tag, byte[] content) {
    byte[] bytes = new byte[1 + content.length];
    bytes[0] = tag;
    System.arraycopy(content, 0, bytes, 1, content.length);
    return bytes;
  }
}
