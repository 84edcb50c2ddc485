// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.transport.PeerCalls;
import org.ddstore.transport.PeerGoneException;
import org.ddstore.transport.PeerRows;
import org.ddstore.transport.RemoteReader;
import org.ddstore.transport.RemoteSegment;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/** A reader that has each batch read by {@code libddstore_reader} in a process of its own. */
final class OutsideReader implements RemoteReader {
  private static final int MOST_OPEN = 16;

  private final PeerCalls calls;
  private final StoreToken token;
  private final Path program;
  private final Duration timeout;
  private final Map<Nonce, OutsideSegment> known = new HashMap<>();
  private final Map<List<Nonce>, OpenHandle> open = new HashMap<>();
  private ReaderTool tool;
  private long deadlineNs;

  private static final class OpenHandle {
    final int reader;
    long rows;

    OpenHandle(int reader) {
      this.reader = reader;
    }
  }

  OutsideReader(PeerCalls calls, StoreToken token, Path program, Duration timeout) {
    this.calls = calls;
    this.token = token;
    this.program = program;
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
      try {
        fetch(rows);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private void fetch(PeerRows rows) throws IOException {
    List<OutsideSegment> segments = new ArrayList<>();
    long[] indices = new long[rows.rows()];
    long firstRow = 0;
    for (int run = 0; run < rows.runs(); run++) {
      if (rows.segmentNumber(run) == segments.size()) {
        firstRow = segments.stream().mapToLong(OutsideSegment::rows).sum();
        segments.add(describe(rows, rows.segment(run)));
      }
      for (int slot = rows.firstSlot(run); slot < rows.firstSlot(run + 1); slot++) {
        indices[slot] = firstRow + rows.firstRow(run) + slot - rows.firstSlot(run);
      }
    }
    place(rows, segments.get(0).schema(), read(rows, segments, indices));
  }

  /** Asks the owner of a segment what a handle says of it. */
  private OutsideSegment describe(PeerRows rows, RemoteSegment segment) {
    return known.computeIfAbsent(
        segment.nonce(),
        nonce -> {
          ByteBuffer question = ByteBuffer.allocate(2 * Long.BYTES);
          nonce.write(question, 0);
          try {
            ByteBuffer answer = calls.call(segment.process(), question, deadlineNs);
            if (!answer.hasRemaining()) {
              throw rows.closed();
            }
            return OutsideSegment.parse(nonce, segment.process(), answer);
          } catch (PeerGoneException e) {
            throw rows.lost();
          }
        });
  }

  private ByteBuffer read(PeerRows rows, List<OutsideSegment> segments, long[] indices)
      throws IOException {
    for (OutsideSegment segment : segments) {
      // A mapping would outlive the link, and a transport must not read what was withdrawn.
      if (segment.path() != null && !Files.exists(Path.of(segment.path()))) {
        throw rows.closed();
      }
    }
    long leftMs = TimeUnit.NANOSECONDS.toMillis(deadlineNs - System.nanoTime());
    try {
      OpenHandle handle = open(segments);
      ByteBuffer result = tool.read(handle.reader, indices, Math.max(1, leftMs));
      handle.rows += indices.length;
      boolean byPort = segments.get(0).path() == null;
      long mapped = result.getLong();
      long remote = result.getLong();
      if (mapped != (byPort ? 0 : handle.rows) || remote != (byPort ? handle.rows : 0)) {
        throw new AssertionError(
            "%d rows, by port %b: %d mapped, %d remote"
                .formatted(handle.rows, byPort, mapped, remote));
      }
      return result;
    } catch (ReaderTool.Failure e) {
      throw switch (e.code()) {
        case ReaderTool.STORE_GONE -> rows.closed();
        // A file that is gone has been withdrawn.
        case ReaderTool.LOST -> segments.get(0).path() == null ? rows.lost() : rows.closed();
        case ReaderTool.DEADLINE -> new DeadlineExceededException(e.getMessage());
        default -> new DDStoreException("code %d: %s".formatted(e.code(), e.getMessage()), e);
      };
    }
  }

  private OpenHandle open(List<OutsideSegment> segments) throws IOException, ReaderTool.Failure {
    List<Nonce> nonces = segments.stream().map(OutsideSegment::nonce).toList();
    OpenHandle handle = open.get(nonces);
    if (handle != null) {
      return handle;
    }
    if (tool == null) {
      tool = ReaderTool.start(program);
    }
    if (open.size() == MOST_OPEN) {
      for (OpenHandle other : open.values()) {
        tool.close(other.reader);
      }
      open.clear();
      known.clear();
    }
    handle = new OpenHandle(tool.open(OutsideSegment.handle(token, "contract", segments), 0));
    open.put(nonces, handle);
    return handle;
  }

  /** Makes the records of the fields of all rows. */
  private static void place(PeerRows rows, Schema schema, ByteBuffer fields) {
    int count = rows.rows();
    int[] lengths = new int[count * schema.size()];
    int[] starts = new int[schema.size()];
    for (int f = 0; f < schema.size(); f++) {
      Field field = schema.field(f);
      int total = count;
      if (field.isRagged()) {
        for (int slot = 0; slot < count; slot++) {
          int at = fields.position() + slot * Long.BYTES;
          long length = fields.getLong(at + Long.BYTES) - fields.getLong(at);
          lengths[f * count + slot] = (int) length;
        }
        int end = fields.position() + count * Long.BYTES;
        total = (int) fields.getLong(end);
        fields.position(end + Long.BYTES);
      }
      starts[f] = fields.position();
      fields.position(starts[f] + total * field.bytes());
    }
    if (fields.hasRemaining()) {
      throw new AssertionError(fields.remaining() + " more bytes than fields have");
    }
    for (int slot = 0; rows.recordBytes() == 0 && slot < count; slot++) {
      int bytes = schema.prefixBytes();
      for (int f = 0; f < schema.size(); f++) {
        bytes += lengths[f * count + slot] * schema.field(f).bytes();
      }
      rows.setLength(slot, bytes);
    }
    ByteBuffer records = rows.reserve().duplicate().order(ByteOrder.LITTLE_ENDIAN);
    for (int slot = 0; slot < count; slot++) {
      int ragged = rows.start(slot) + schema.prefixBytes();
      for (int f = 0; f < schema.size(); f++) {
        int length = lengths[f * count + slot];
        int bytes = schema.field(f).bytes();
        if (schema.field(f).isRagged()) {
          records.putInt(rows.start(slot) + schema.lengthOffset(f), length);
          records.put(ragged, fields, starts[f], length * bytes);
          ragged += length * bytes;
          starts[f] += length * bytes;
        } else {
          records.put(rows.start(slot) + schema.fixedOffset(f), fields, starts[f], bytes);
          starts[f] += bytes;
        }
      }
    }
  }

  @Override
  public void close() {
    try {
      if (tool != null) {
        tool.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
