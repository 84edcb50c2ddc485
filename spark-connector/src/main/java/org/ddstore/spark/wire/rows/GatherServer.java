// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.ddstore.memory.Nonce;
import org.ddstore.memory.Segment;
import org.ddstore.nativeio.RowServer;
import org.ddstore.nativeio.ServedRows;
import org.ddstore.spark.wire.connection.Status;

/**
 * A server of gather requests for the segments that this process exports. Runs on network threads:
 * each request copies at most one piece and never blocks.
 */
public final class GatherServer {
  private final Map<Nonce, Segment> exported = new ConcurrentHashMap<>();
  private final AtomicLong served = new AtomicLong();
  private ServedRows servedInC; // the same segments; null before the first channel; guarded by this
  private boolean closed; // guarded by this

  /** Exports a segment and retains a reference to it. */
  public void export(Segment segment) {
    if (!segment.retain()) {
      throw new IllegalStateException("closed: " + segment);
    }
    synchronized (this) {
      exported.put(segment.nonce(), segment);
      if (servedInC != null) {
        servedInC.add(segment);
      }
    }
  }

  public void withdraw(Segment segment) {
    synchronized (this) {
      if (exported.remove(segment.nonce()) == null) {
        return;
      }
      if (servedInC != null) {
        servedInC.remove(segment); // waits while C copies rows
      }
    }
    segment.release();
  }

  /**
   * Lets C answer the requests of a channel; returns its number.
   *
   * @param counts counters of its reads, or null; see {@link RowServer#add}
   */
  synchronized long serve(RowServer inC, SocketChannel channel, ByteBuffer counts)
      throws IOException {
    if (servedInC == null) {
      if (closed) {
        throw new ClosedChannelException();
      }
      servedInC = openInC();
    }
    return inC.add(channel, servedInC, counts);
  }

  private ServedRows openInC() throws IOException {
    ServedRows opened = ServedRows.open();
    if (opened == null) {
      throw new IOException("no memory for the rows that C serves");
    }
    try {
      exported.values().forEach(opened::add);
      return opened;
    } catch (RuntimeException | Error e) {
      opened.close();
      throw e;
    }
  }

  synchronized long servedInC() {
    return servedInC == null ? 0 : servedInC.requests();
  }

  /** Returns the number of requests received, including refused ones. */
  public synchronized long served() {
    return served.get() + servedInC();
  }

  public void close() {
    exported.values().forEach(this::withdraw);
    synchronized (this) {
      closed = true;
      if (servedInC != null) {
        served.addAndGet(servedInC.requests());
        servedInC.close();
        servedInC = null;
      }
    }
  }

  /**
   * Serves a request as a whole.
   *
   * @param request request, positioned after the store
   * @throws IllegalArgumentException if the request is out of range
   * @throws java.nio.BufferUnderflowException if the request is truncated
   */
  public ByteBuffer serve(ByteBuffer request) {
    GatherReply reply = new GatherReply();
    try {
      byte status = begin(reply, request, GatherRequest.CONNECTION_PIECE_BYTES);
      return status == Status.OK ? reply.whole() : ByteBuffer.wrap(new byte[] {status});
    } finally {
      reply.end();
    }
  }

  /** Begins a reply, see {@link GatherReply#begin}; {@link GatherReply#end()} must follow. */
  byte begin(GatherReply reply, ByteBuffer request, int maxBytes) {
    served.incrementAndGet();
    return reply.begin(request, maxBytes, this::hold);
  }

  private Segment hold(Nonce nonce) {
    Segment segment = exported.get(nonce);
    return segment != null && segment.retain() ? segment : null;
  }
}
