package org.ddstore.fabric;

import java.util.List;
import org.ddstore.transport.RemoteSegment;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.ProcessAddress;

/**
 * Where the parts of another process's segment lie, as its owner has told. Shared by the readers of
 * this process; any thread.
 */
final class RemoteMemory {
  private static final int MOST_SHIFT = 62; // 1L << 63 is negative

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

  /**
   * A reader's own arithmetic must not leave what the table says, and what it says must be whole:
   * then no read of rows that there are leaves the piece that it names.
   */
  private void check() {
    boolean legal =
        table.word().bytes() >= Long.BYTES
            && isShift(table.rowShift())
            && isShift(table.offsetShift())
            && (segment.recordBytes() == 0
                ? streamFits() && offsetsFit()
                : fits(table.chunks(), table.rowShift(), segment.rows(), segment.recordBytes()));
    if (!legal) {
      throw new DDStoreException(
          "the table of a segment of %s does not fit its %,d rows"
              .formatted(segment.process(), segment.rows()));
    }
  }

  private static boolean isShift(int shift) {
    return shift >= 0 && shift <= MOST_SHIFT;
  }

  /** True if so many elements lie in the pieces, 2^{@code shift} in each but the last. */
  private static boolean fits(
      List<MemoryTable.Piece> pieces, int shift, long elements, int elementBytes) {
    int piece = 0;
    for (long left = elements; left > 0; piece++) {
      long here = Math.min(left, 1L << shift);
      if (piece == pieces.size() || pieces.get(piece).bytes() / elementBytes < here) {
        return false;
      }
      left -= here;
    }
    return true;
  }

  private boolean streamFits() {
    List<MemoryTable.Piece> chunks = table.chunks();
    if (chunkStarts.length != chunks.size() + 1 || chunkStarts[0] != 0) {
      return false;
    }
    for (int chunk = 0; chunk < chunks.size(); chunk++) {
      long start = chunkStarts[chunk];
      long end = chunkStarts[chunk + 1];
      if (end < start || end - start > chunks.get(chunk).bytes()) {
        return false;
      }
    }
    return true;
  }

  private boolean offsetsFit() {
    return offsets.length > 0
        ? offsets.length == segment.rows() + 1
        : fits(table.offsetPieces(), table.offsetShift(), segment.rows() + 1, Long.BYTES);
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
