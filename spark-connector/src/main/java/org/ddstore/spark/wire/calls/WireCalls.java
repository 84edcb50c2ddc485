// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.calls;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import org.apache.spark.network.client.RpcResponseCallback;
import org.ddstore.spark.wire.connection.Connection;
import org.ddstore.spark.wire.connection.Connections;
import org.ddstore.spark.wire.connection.Handshake;
import org.ddstore.spark.wire.connection.Status;
import org.ddstore.spark.wire.connection.StoreConnections;
import org.ddstore.transport.PeerCalls;
import org.ddstore.transport.PeerGoneException;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.ProcessAddress;

/**
 * Calls between processes of a store, over the same connections as its messages. A question is one
 * byte ({@link #CALL} for calls of a transport, {@link #CONTROL} for calls about the store), the
 * store (16 bytes), then its content. An answer is {@link Status#OK} and its content, or {@link
 * Status#FAILED} and the reason.
 */
public final class WireCalls implements PeerCalls {
  public static final byte CALL = 6;
  public static final byte CONTROL = 7;

  private static final long SLICE_NS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(50);

  private final StoreConnections connections;
  private final Predicate<ProcessAddress> alive;
  private final byte kind;
  private volatile Service service;

  /**
   * @param kind kind of the questions, {@link #CALL} or {@link #CONTROL}
   * @param alive whether a process is alive
   */
  public WireCalls(StoreConnections connections, byte kind, Predicate<ProcessAddress> alive) {
    this.connections = connections;
    this.alive = alive;
    this.kind = kind;
  }

  @Override
  public ProcessAddress local() {
    return connections.local();
  }

  @Override
  public void serve(Service service) {
    this.service = service;
  }

  @Override
  public boolean isAlive(ProcessAddress process) {
    return alive.test(process);
  }

  // The side that answers.

  /**
   * Answers a question.
   *
   * @param question question, positioned after the store
   */
  public ByteBuffer answer(ByteBuffer question) {
    Service current = service;
    if (current == null) {
      return ByteBuffer.wrap(new byte[] {Status.GONE});
    }
    try {
      ByteBuffer answer = current.answer(question);
      return ByteBuffer.allocate(1 + answer.remaining()).put(Status.OK).put(answer).flip();
    } catch (DDStoreException e) {
      return Status.failed(String.valueOf(e.getMessage()));
    }
  }

  // The side that asks.

  @Override
  public ByteBuffer call(ProcessAddress process, ByteBuffer question, long deadlineNs) {
    ByteBuffer framed = framed(question);
    // Not only while this thread waits: the answer can be there before it begins to.
    if (Thread.currentThread().isInterrupted()) {
      throw interrupted(process, new InterruptedException());
    }
    Throwable trouble = null;
    while (true) {
      Asked asked;
      try {
        asked = ask(process, framed.duplicate());
      } catch (RejectedExecutionException e) { // another thread has dropped the last store
        throw new DDStoreException(
            "cannot call %s: the network of this process is closed, because its stores were dropped"
                .formatted(process),
            e);
      }
      try {
        return contentOf(process, await(process, asked, deadlineNs, trouble));
      } catch (ExecutionException e) {
        trouble = Connections.cause(e.getCause());
        check(process, trouble);
      }
      pause(process);
    }
  }

  @Override
  public CompletableFuture<ByteBuffer> send(
      ProcessAddress process, ByteBuffer question, long deadlineNs) {
    CompletableFuture<ByteBuffer> content = new CompletableFuture<>();
    send(process, framed(question), content);
    return content.orTimeout(Math.max(0, deadlineNs - System.nanoTime()), TimeUnit.NANOSECONDS);
  }

  /** Sends a framed question, again while the connection breaks, until the content is there. */
  @SuppressWarnings("FutureReturnValueIgnored") // both outcomes are handled
  private void send(
      ProcessAddress process, ByteBuffer framed, CompletableFuture<ByteBuffer> content) {
    try {
      ask(process, framed.duplicate())
          .answer()
          .whenComplete((reply, failure) -> sent(process, framed, content, reply, failure));
    } catch (RuntimeException | Error e) { // the network has been closed
      content.completeExceptionally(e);
    }
  }

  private void sent(
      ProcessAddress process,
      ByteBuffer framed,
      CompletableFuture<ByteBuffer> content,
      ByteBuffer reply,
      Throwable failure) {
    try {
      if (failure == null) {
        content.complete(contentOf(process, reply));
        return;
      }
      check(process, Connections.cause(failure));
      if (!content.isDone()) { // at the deadline it is
        CompletableFuture.delayedExecutor(RETRY_NS, TimeUnit.NANOSECONDS)
            .execute(() -> send(process, framed, content));
      }
    } catch (RuntimeException | Error e) { // not visible to the caller otherwise
      content.completeExceptionally(e);
    }
  }

  private ByteBuffer framed(ByteBuffer question) {
    if (question.remaining() > MAX_BYTES) {
      throw new IllegalArgumentException(
          "size of a question: %,d bytes outside [0, %,d]"
              .formatted(question.remaining(), MAX_BYTES));
    }
    ByteBuffer framed = ByteBuffer.allocate(1 + Handshake.STORE_BYTES + question.remaining());
    framed.put(kind);
    Handshake.putStore(framed, connections.store());
    return framed.put(question.duplicate()).flip();
  }

  private record Asked(
      CompletableFuture<Connection> connection, CompletableFuture<ByteBuffer> answer) {
    boolean isCutOff() {
      return connection.isDone()
          && !connection.isCompletedExceptionally()
          && !connection.join().isActive();
    }
  }

  @SuppressWarnings("FutureReturnValueIgnored") // both outcomes are handled
  private Asked ask(ProcessAddress process, ByteBuffer framed) {
    CompletableFuture<ByteBuffer> answer = new CompletableFuture<>();
    CompletableFuture<Connection> connection = connections.to(process);
    connection.whenComplete(
        (found, e) -> {
          if (e != null) {
            answer.completeExceptionally(e);
            return;
          }
          try {
            found.request(framed, new Reply(answer));
          } catch (RuntimeException | Error failure) { // not visible to the caller otherwise
            answer.completeExceptionally(failure);
          }
        });
    return new Asked(connection, answer);
  }

  /** Waits in slices, to detect an ended connection between them. Interruptible. */
  private ByteBuffer await(ProcessAddress process, Asked asked, long deadlineNs, Throwable trouble)
      throws ExecutionException {
    while (true) {
      long leftNs = deadlineNs - System.nanoTime();
      if (leftNs <= 0) {
        throw new DeadlineExceededException(
            "no answer from %s%s".formatted(process, trouble == null ? "" : " (" + trouble + ")"));
      }
      try {
        return asked.answer().get(Math.min(leftNs, SLICE_NS), TimeUnit.NANOSECONDS);
      } catch (TimeoutException e) {
        if (asked.isCutOff()) { // no effect if the answer has arrived
          asked.answer().completeExceptionally(new IOException("the connection has ended"));
        }
      } catch (InterruptedException e) {
        throw interrupted(process, e);
      }
    }
  }

  private static void pause(ProcessAddress process) {
    try {
      TimeUnit.NANOSECONDS.sleep(RETRY_NS);
    } catch (InterruptedException e) {
      throw interrupted(process, e);
    }
  }

  private static DDStoreException interrupted(ProcessAddress process, InterruptedException e) {
    Thread.currentThread().interrupt();
    return new DDStoreException("interrupted while waiting for an answer of " + process, e);
  }

  /** Returns normally if a retry on another connection can succeed, else throws. */
  private void check(ProcessAddress process, Throwable trouble) {
    if (trouble instanceof Error error) { // of this process, such as out of memory
      throw error;
    }
    if (trouble instanceof Connections.StoreGoneException) {
      throw new PeerGoneException(process, false);
    }
    if (trouble instanceof SecurityException) {
      throw new DDStoreException("cannot call %s: %s".formatted(process, trouble), trouble);
    }
    if (!connections.mayBeAlive(process)) {
      throw new PeerGoneException(process, true);
    }
  }

  private static ByteBuffer contentOf(ProcessAddress process, ByteBuffer reply) {
    byte status = reply.hasRemaining() ? reply.get() : Status.REFUSED;
    switch (status) {
      case Status.OK -> {
        return reply;
      }
      case Status.GONE -> throw new PeerGoneException(process, false);
      case Status.FAILED ->
          throw new DDStoreException(
              "call to %s failed: %s".formatted(process, Status.reason(reply)));
      default ->
          throw new DDStoreException("call to %s refused: status %d".formatted(process, status));
    }
  }

  /** The callback of a question, called by a network thread. */
  private record Reply(CompletableFuture<ByteBuffer> answer) implements RpcResponseCallback {
    /** Copies the reply, because Spark owns the buffer after the return. */
    @Override
    public void onSuccess(ByteBuffer reply) {
      try {
        answer.complete(ByteBuffer.allocate(reply.remaining()).put(reply).flip());
      } catch (RuntimeException | Error e) { // not visible to the caller otherwise
        answer.completeExceptionally(e);
      }
    }

    @Override
    public void onFailure(Throwable e) {
      answer.completeExceptionally(e);
    }
  }
}
