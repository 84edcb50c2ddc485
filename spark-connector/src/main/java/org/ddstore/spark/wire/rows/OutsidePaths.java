// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

import java.io.IOException;
import java.net.ConnectException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.wire.connection.ReadClaims;
import org.ddstore.spark.wire.connection.ReadKey;
import org.ddstore.types.ProcessAddress;

/**
 * Paths of a reader outside of Spark: data channels only, opened with a read key. The address of a
 * process is that of its data port.
 */
public final class OutsidePaths implements RowPaths, AutoCloseable {
  private static final AtomicInteger THREADS = new AtomicInteger();

  private final ReadClaims claims;
  private final ReadKey key;
  private final Duration timeout;
  private final Set<ProcessAddress> ended = ConcurrentHashMap.newKeySet();
  private final ExecutorService openers = Executors.newCachedThreadPool(OutsidePaths::opener);

  /**
   * @param timeout time limit of a connection and of its handshake
   */
  public OutsidePaths(ReadClaims claims, ReadKey key, Duration timeout) {
    this.claims = claims;
    this.key = key;
    this.timeout = timeout;
  }

  private static Thread opener(Runnable work) {
    Thread thread = new Thread(work, "ddstore-outside-" + THREADS.incrementAndGet());
    thread.setDaemon(true);
    return thread;
  }

  @Override
  public Nonce store() {
    return claims.store();
  }

  @Override
  public CompletableFuture<DataPath> open(ProcessAddress process) {
    return CompletableFuture.supplyAsync(() -> connect(process), openers);
  }

  private DataPath connect(ProcessAddress process) {
    try {
      DataPath path = new DataPath(null, DataChannel.open(process, claims, key, timeout));
      ended.remove(process);
      return path;
    } catch (ConnectException e) {
      if (String.valueOf(e.getMessage()).startsWith("Connection refused")) {
        ended.add(process); // nobody listens there, whereas a missing route may come back
      }
      throw new CompletionException(e);
    } catch (OtherProcessException e) {
      ended.add(process);
      throw new CompletionException(e);
    } catch (IOException e) {
      throw new CompletionException(e);
    }
  }

  @Override
  public CompletableFuture<?> probe(ProcessAddress process) {
    return open(process).thenAccept(DataPath::closeChannel);
  }

  @Override
  public boolean mayBeAlive(ProcessAddress process) {
    return !ended.contains(process);
  }

  @Override
  public void close() {
    openers.shutdownNow();
  }

  /** The port now belongs to another process. */
  static final class OtherProcessException extends IOException {
    private static final long serialVersionUID = 1L;

    OtherProcessException(ProcessAddress process) {
      super("another process listens at " + process);
    }
  }
}
