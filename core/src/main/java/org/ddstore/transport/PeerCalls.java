// SPDX-License-Identifier: Apache-2.0
package org.ddstore.transport;

import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import org.ddstore.types.ProcessAddress;

/**
 * Request-response calls between the processes of a store, over connections on which both sides
 * have proved the store's token. Transports use them to exchange the information for one-sided
 * reads. Any thread.
 */
public interface PeerCalls {
  /** Largest size in bytes of a request and of a response. */
  int MAX_BYTES = 2 << 20;

  /** A handler of requests from other processes or from this one. */
  @FunctionalInterface
  interface Service {
    /**
     * Answers a request. Runs on a network thread: must return within 200 ms and must not wait for
     * another process.
     *
     * @param question request from position to limit; owned by the callee
     * @return response from position to limit, at most {@link #MAX_BYTES}
     * @throws IllegalArgumentException if the request is malformed; the connection is then closed
     * @throws java.nio.BufferUnderflowException if the request is truncated; the connection is then
     *     closed
     */
    ByteBuffer answer(ByteBuffer question);
  }

  ProcessAddress local();

  /** Sets the only service; without one (null), callers get {@link PeerGoneException}. */
  void serve(Service service);

  /**
   * Sends a request to a process and blocks until the response arrives. Restores broken
   * connections. Sends nothing if the thread is already interrupted.
   *
   * @param process address of the process; may be this process
   * @param question request from position to limit, at most {@link #MAX_BYTES}
   * @param deadlineNs deadline on the clock of {@link System#nanoTime()}
   * @throws PeerGoneException if the process has ended, or its ranks have left the store
   * @throws org.ddstore.types.DeadlineExceededException if no response arrives before the deadline
   * @throws org.ddstore.types.DDStoreException if the process refuses, or the thread is interrupted
   */
  ByteBuffer call(ProcessAddress process, ByteBuffer question, long deadlineNs);

  /**
   * Sends a request like {@link #call}, without blocking.
   *
   * @return the response; fails like {@link #call}, or with a {@link
   *     java.util.concurrent.TimeoutException} after the deadline
   */
  CompletableFuture<ByteBuffer> send(ProcessAddress process, ByteBuffer question, long deadlineNs);

  /** Returns false if the process is known to have ended. Does not block; may start a probe. */
  boolean isAlive(ProcessAddress process);
}
