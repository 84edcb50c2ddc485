// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.zip.CRC32C;

/**
 * The writes of one rank for one checkpoint. Streams are added by one thread; each chunk is written
 * by another, as a file. After the first failure, further chunks are discarded.
 */
final class RankWrites {
  private final CheckpointStorage storage;
  private final CheckpointName name;
  private final int rank;
  private final ChunkMemory memory;
  private final Executor writers;
  private final Duration timeout;
  private final long deadlineNs;
  private final Map<String, List<CompletableFuture<Manifest.Chunk>>> streams =
      new LinkedHashMap<>();
  private volatile IOException failure;

  /**
   * @param timeout longest time for all writes, from now
   */
  RankWrites(
      CheckpointStorage storage,
      CheckpointName name,
      int rank,
      ChunkMemory memory,
      Executor writers,
      Duration timeout) {
    this.storage = storage;
    this.name = name;
    this.rank = rank;
    this.memory = memory;
    this.writers = writers;
    this.timeout = timeout;
    this.deadlineNs = System.nanoTime() + timeout.toNanos();
  }

  /** Adds a stream; returns whether its name is new. */
  boolean add(String stream) {
    return streams.putIfAbsent(stream, new ArrayList<>()) == null;
  }

  /** Returns an array of the size of a chunk, for {@link #write}. Blocks while all are in use. */
  byte[] takeArray() throws IOException {
    try {
      throwFailure();
      byte[] array = memory.take(deadlineNs - System.nanoTime());
      if (array == null) {
        throw failWith(new IOException(late()));
      }
      return array;
    } catch (InterruptedException e) {
      throw failWith(interrupted());
    }
  }

  void giveArray(byte[] array) {
    memory.give(array);
  }

  /** Writes the next chunk of a stream on another thread, which gives the array back. */
  void write(String stream, byte[] array, int count) throws IOException {
    List<CompletableFuture<Manifest.Chunk>> chunks = streams.get(stream);
    String file = name.folder() + "/" + CheckpointName.chunk(rank, stream, chunks.size());
    CompletableFuture<Manifest.Chunk> chunk = new CompletableFuture<>();
    chunks.add(chunk);
    writers.execute(
        () -> {
          try {
            chunk.complete(writeFile(file, array, count));
          } catch (IOException | RuntimeException | Error e) {
            failWith(e instanceof IOException io ? io : new IOException(e));
            chunk.completeExceptionally(e);
          } finally {
            memory.give(array);
          }
        });
    throwFailure();
  }

  private Manifest.Chunk writeFile(String file, byte[] array, int count) throws IOException {
    throwFailure();
    try (OutputStream out = storage.create(file)) {
      out.write(array, 0, count);
    }
    CRC32C crc = new CRC32C();
    crc.update(array, 0, count);
    return new Manifest.Chunk(count, (int) crc.getValue());
  }

  /** Returns the first failure of a write; null if there is none. */
  IOException failure() {
    return failure;
  }

  private void throwFailure() throws IOException {
    if (failure != null) {
      throw new IOException("an earlier write failed: " + failure.getMessage(), failure);
    }
  }

  private synchronized IOException failWith(IOException e) {
    if (failure == null) {
      failure = e;
    }
    return e;
  }

  private String late() {
    return "the storage did not write all chunks within %s: raise saveTimeout".formatted(timeout);
  }

  private static IOException interrupted() {
    Thread.currentThread().interrupt();
    return new InterruptedIOException("interrupted during a write");
  }

  /** Waits for all chunks and returns them by stream; throws if one failed or is late. */
  Map<String, List<Manifest.Chunk>> await() throws IOException {
    Map<String, List<Manifest.Chunk>> written = new LinkedHashMap<>();
    for (Map.Entry<String, List<CompletableFuture<Manifest.Chunk>>> stream : streams.entrySet()) {
      List<Manifest.Chunk> chunks = new ArrayList<>();
      for (CompletableFuture<Manifest.Chunk> chunk : stream.getValue()) {
        chunks.add(await(chunk));
      }
      written.put(stream.getKey(), chunks);
    }
    return written;
  }

  private Manifest.Chunk await(CompletableFuture<Manifest.Chunk> chunk) throws IOException {
    try {
      return chunk.get(Math.max(0, deadlineNs - System.nanoTime()), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw failure;
    } catch (TimeoutException e) {
      throw failWith(new IOException(late(), e));
    } catch (InterruptedException e) {
      throw failWith(interrupted());
    }
  }
}
