// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.ddstore.memory.Nonce;
import org.ddstore.memory.RowDigest;
import org.ddstore.memory.Segment;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.transport.Transport;
import org.ddstore.types.Cleanup;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.Internal;
import org.ddstore.types.Schema;
import org.ddstore.types.StoreGoneException;

/**
 * A shard that a process holds for other readers, independent of any {@link DDStore}: it outlives
 * the store of the ranks that loaded it. Stores attach to a {@link Catalog} of shards. The caller
 * of {@link #seal} closes it; any thread may use it.
 */
@Internal
public final class Shard implements AutoCloseable {
  private final Segment segment;
  private final Transport transport;
  private final SegmentAddress address;
  private final AtomicBoolean closed = new AtomicBoolean();

  private Shard(Segment segment, Transport transport, SegmentAddress address) {
    this.segment = segment;
    this.transport = transport;
    this.address = address;
  }

  /**
   * Seals the rows of a writer and makes them readable for other processes. Local. Takes ownership
   * of the writer's memory, even if the call fails.
   *
   * @param writer writer of the rows
   * @param exportBy transport that serves the rows to processes that cannot map them; owned by the
   *     caller and open as long as the shard; null to share them on this host only
   * @return the shard; the caller closes it
   * @throws DDStoreException if the memory cannot be allocated or exported
   */
  public static Shard seal(ShardWriter writer, Transport exportBy) {
    Objects.requireNonNull(writer, "writer is null");
    try (writer) {
      Segment segment = writer.seal();
      try {
        if (exportBy != null) {
          exportBy.export(segment);
        }
        return new Shard(segment, exportBy, ShardOffer.addressOf(segment, exportBy));
      } catch (RuntimeException | Error e) {
        Cleanup.after(e, Stream.of(() -> withdraw(segment, exportBy), segment::release));
        throw e;
      }
    }
  }

  /** {@return the address of the rows for other processes} */
  public SegmentAddress address() {
    return address;
  }

  /** {@return the fields of the records} */
  public Schema schema() {
    return segment.schema();
  }

  /** {@return the number of rows} */
  public long rows() {
    return segment.rows();
  }

  /** {@return the size of the packed records and their offsets in bytes} */
  public long bytes() {
    return segment.dataBytes() + segment.offsetBytes();
  }

  /**
   * {@return a digest of the rows; the digests of all shards of a store add up to that of the
   * store} Reads all rows.
   *
   * @param firstRow global index of the first row
   * @throws IllegalStateException if the shard is closed
   */
  public RowDigest digest(long firstRow) {
    if (closed.get() || !segment.retain()) {
      throw new IllegalStateException("closed: " + this);
    }
    try {
      RowDigest digest = new RowDigest();
      digest.add(firstRow, segment);
      return digest;
    } finally {
      segment.release();
    }
  }

  /**
   * Writes into the header of the segment which rows these are, for programs that find its file.
   *
   * @param store id of the store
   * @param rank rank that the rows belong to
   * @param firstRow global index of the first row
   */
  public void identify(Nonce store, int rank, long firstRow) {
    segment.identify(Objects.requireNonNull(store, "store is null"), rank, firstRow);
  }

  /**
   * Closes the shard like {@link #close}, after a mark in its memory, at which readers that have
   * mapped it throw {@link StoreGoneException}. Idempotent.
   */
  public void drop() {
    close(segment::markGone);
  }

  /**
   * Closes the shard: refuses new attachments and remote reads, and frees the memory when the last
   * process that has mapped it releases it. Idempotent.
   */
  @Override
  public void close() {
    close(() -> {});
  }

  private void close(Runnable mark) {
    if (closed.compareAndSet(false, true)) {
      Cleanup.runAll(
          Stream.of(mark, segment::unlink, () -> withdraw(segment, transport), segment::release));
    }
  }

  private static void withdraw(Segment segment, Transport transport) {
    if (transport != null) {
      transport.withdraw(segment);
    }
  }

  @Override
  public String toString() {
    return "Shard[%,d rows of %s, %s]".formatted(address.rows(), segment.schema(), address.nonce());
  }
}
