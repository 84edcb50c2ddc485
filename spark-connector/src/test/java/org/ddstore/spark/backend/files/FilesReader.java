// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend.files;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.ddstore.memory.Nonce;
import org.ddstore.memory.Segment;
import org.ddstore.transport.PeerRows;
import org.ddstore.transport.RemoteReader;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DeadlineExceededException;

/** A reader that copies records from mapped segments. */
final class FilesReader implements RemoteReader {
  private static final long CHANGING_NS = 100_000;

  private final Duration timeout;
  private long deadlineNs;

  FilesReader(Duration timeout) {
    this.timeout = timeout;
    begin();
  }

  @Override
  public void begin() {
    deadlineNs = System.nanoTime() + timeout.toNanos();
  }

  @Override
  public void fetch(List<PeerRows> peers) {
    for (PeerRows rows : peers) {
      Map<Nonce, Segment> mapped = new HashMap<>();
      try {
        map(rows, mapped);
        while (!copy(rows, mapped)) {
          awaitStable(rows);
        }
      } finally {
        mapped.values().forEach(Segment::release);
      }
    }
  }

  private static void map(PeerRows rows, Map<Nonce, Segment> mapped) {
    for (int run = 0; run < rows.runs(); run++) {
      Nonce nonce = rows.segment(run).nonce();
      if (!mapped.containsKey(nonce)) {
        try {
          mapped.put(nonce, FilesTransport.map(nonce));
        } catch (NoSuchFileException e) {
          throw rows.closed();
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
    }
  }

  /** Copies all records; returns false if rows were changed meanwhile. */
  private static boolean copy(PeerRows rows, Map<Nonce, Segment> mapped) {
    Map<Nonce, Long> versions = new HashMap<>();
    mapped.forEach((nonce, segment) -> versions.put(nonce, segment.version()));
    if (rows.recordBytes() == 0) {
      forEachRow(
          rows, mapped, (segment, row, slot) -> rows.setLength(slot, segment.recordBytes(row)));
    }
    ByteBuffer staging = rows.reserve();
    forEachRow(
        rows,
        mapped,
        (segment, row, slot) -> {
          long place = segment.place(row);
          staging.put(
              rows.start(slot),
              segment.chunk(Segment.chunkOf(place)),
              Segment.positionOf(place),
              segment.recordBytes(row));
        });
    return mapped.entrySet().stream()
        .allMatch(entry -> entry.getValue().validate(versions.get(entry.getKey())));
  }

  /** An action on one row of a segment. */
  private interface RowAction {
    void run(Segment segment, long row, int slot);
  }

  private static void forEachRow(PeerRows rows, Map<Nonce, Segment> mapped, RowAction action) {
    for (int run = 0; run < rows.runs(); run++) {
      Segment segment = mapped.get(rows.segment(run).nonce());
      int first = rows.firstSlot(run);
      for (int slot = first; slot < rows.firstSlot(run + 1); slot++) {
        action.run(segment, rows.firstRow(run) + slot - first, slot);
      }
    }
  }

  private void awaitStable(PeerRows rows) {
    if (System.nanoTime() - deadlineNs >= 0) {
      throw new DeadlineExceededException(
          "rows of %s changed for %d ms".formatted(rows.owners(), timeout.toMillis()));
    }
    LockSupport.parkNanos(this, CHANGING_NS);
    if (Thread.currentThread().isInterrupted()) {
      throw new DDStoreException("interrupted while reading rows of " + rows.owners());
    }
  }

  @Override
  public void close() {
    // No resources are held between fetches.
  }
}
