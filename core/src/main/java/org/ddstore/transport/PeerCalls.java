package org.ddstore.transport;

import java.nio.ByteBuffer;
import org.ddstore.types.ProcessAddress;

/**
 * Questions and answers between the processes that hold a store, over connections on which both
 * have proved the store's token. For what a transport has to know before it reads by other means.
 * Any thread.
 */
public interface PeerCalls {
  /** The most bytes of a question, and of an answer. */
  int MAX_BYTES = 2 << 20;

  /** Answers what other processes, or this one, ask. */
  @FunctionalInterface
  interface Service {
    /**
     * Runs on a thread of the network: never waits for another process. It has 200 ms, not more.
     *
     * @param question from position to limit; the callee's
     * @return from position to limit, at most {@link #MAX_BYTES}
     * @throws IllegalArgumentException if the question is not legal: the connection is closed
     * @throws java.nio.BufferUnderflowException if it is cut short: as above
     */
    ByteBuffer answer(ByteBuffer question);
  }

  /** This process. */
  ProcessAddress local();

  /**
   * Answers from now on; there is one service at a time. Until then questions find the store gone.
   *
   * @param service null to end it
   */
  void serve(Service service);

  /**
   * Asks a process and blocks until it has answered. Connections that break are made again.
   *
   * @param process may be this one
   * @param question from position to limit, at most {@link #MAX_BYTES}
   * @param deadlineNs of {@link System#nanoTime()}
   * @throws PeerGoneException if the process has ended, or its ranks have left the store
   * @throws org.ddstore.types.DeadlineExceededException if there is no answer at the deadline
   * @throws org.ddstore.types.DDStoreException if it refuses, or the thread is interrupted
   */
  ByteBuffer call(ProcessAddress process, ByteBuffer question, long deadlineNs);

  /**
   * False if the process is known to have ended. Does not block; what it finds out counts later.
   */
  boolean isAlive(ProcessAddress process);
}
