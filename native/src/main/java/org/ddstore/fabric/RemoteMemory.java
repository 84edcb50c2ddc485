package org.ddstore.fabric;

import java.util.List;
import org.ddstore.DDStoreException;
import org.ddstore.ProcessAddress;
import org.ddstore.transport.RemoteSegment;

/**
 * Where the parts of another process's segment lie, as its owner has told. Shared by the readers of
 * this process; any thread.
 */
final class RemoteMemory {
  private final RemoteSegment segment;
  private final MemoryTable table;
  private final long[] chunkStarts;
  private final long[] offsets;
  private volatile long version;

  RemoteMemory(RemoteSegment segment, MemoryTable table) {
    this.segment = segment;
    this.table = table;
    this.chunkStarts = table.chunkStarts().stream().mapToLong(Long::longValue).toArray();
    this.offsets = table.offsets().stream().mapToLong(Long::longValue).toArray();
    this.version = table.version();
    check();
  }

  /** A reader's own arithmetic must not leave what the table says. */
  private void check() {
    boolean ragged = segment.recordBytes() == 0;
    boolean legal =
        ragged
            ? chunkStarts.length == table.chunks().size() + 1
                && (offsets.length == segment.rows() + 1 || offsetsOfPieces() == segment.rows() + 1)
            : rowsOfChunks() == segment.rows();
    if (!legal) {
      throw new DDStoreException(
          "the table of a segment of %s does not fit its %,d rows"
              .formatted(segment.process(), segment.rows()));
    }
  }

  private long rowsOfChunks() {
    List<MemoryTable.Piece> chunks = table.chunks();
    long rows = 0;
    for (int i = 0; i < chunks.size(); i++) {
      long last = segment.rows() - rows;
      long here = Math.min(last, 1L << table.rowShift());
      rows += chunks.get(i).bytes() >= here * segment.recordBytes() ? here : 0;
    }
    return rows;
  }

  private long offsetsOfPieces() {
    long room = table.offsetPieces().stream().mapToLong(piece -> piece.bytes() / Long.BYTES).sum();
    return Math.min(room, segment.rows() + 1);
  }

  ProcessAddress process() {
    return segment.process();
  }

  MemoryTable table() {
    return table;
  }

  /** True if the offsets of ragged records are here; else they are to be read as well. */
  boolean hasOffsets() {
    return offsets.length > 0;
  }

  /** Entry {@code row} of {@link #hasOffsets}. */
  long offset(long row) {
    return offsets[(int) row];
  }

  /** The chunk in which an offset of the stream of ragged records lies. */
  int chunkOf(long offset) {
    int low = 0;
    int high = chunkStarts.length - 2;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (chunkStarts[middle] <= offset) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  /** Where a chunk begins in the stream of ragged records; for the number of chunks, the end. */
  long chunkStart(int chunk) {
    return chunkStarts[chunk];
  }

  /** The bytes of the stream of ragged records. */
  long streamBytes() {
    return chunkStarts[chunkStarts.length - 1];
  }

  /**
   * The version word as some reader of this process has read it last. If it reads the same after
   * rows have come, they have not changed in between.
   */
  long version() {
    return version;
  }

  void setVersion(long newVersion) {
    version = newVersion;
  }

  @Override
  public String toString() {
    return "RemoteMemory[%s of %s]".formatted(segment.nonce(), segment.process());
  }
}
