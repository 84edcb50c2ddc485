package org.ddstore;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.ddstore.memory.RowDigest;
import org.ddstore.memory.Segment;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.transport.Transport;
import org.ddstore.types.Cleanup;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.Internal;
import org.ddstore.types.Schema;

/**
 * Rows that a process holds for readers elsewhere, as part of no {@link DDStore}: they stay after
 * the store of the ranks that loaded them is closed. A {@link Catalog} of shards is what stores
 * attach to. Who seals it closes it; any thread.
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
   * Makes the rows of a writer readable for others. Local. The writer's memory becomes the shard's,
   * also if the call fails.
   *
   * @param exportBy serves the rows to processes that memory does not reach, stays the caller's and
   *     open as long as the shard; null if memory of this host is all there is
   * @throws DDStoreException if the memory cannot be had, or not be exported
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

  /** Where others find the rows. */
  public SegmentAddress address() {
    return address;
  }

  public Schema schema() {
    return segment.schema();
  }

  public long rows() {
    return segment.rows();
  }

  /** Bytes of the packed records and of their offsets. */
  public long bytes() {
    return segment.dataBytes() + segment.offsetBytes();
  }

  /**
   * A digest of the rows; those of all shards of a store add up to the store's. Reads all rows.
   *
   * @param firstRow the global index of the first one
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
   * Ends the shard: nothing new attaches to it, processes that memory does not reach are refused,
   * and the memory is freed when the last of those who have mapped it gives it back. Idempotent.
   */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      Cleanup.runAll(
          Stream.of(segment::unlink, () -> withdraw(segment, transport), segment::release));
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
