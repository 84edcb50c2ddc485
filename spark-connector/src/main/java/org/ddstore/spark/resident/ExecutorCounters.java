// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.ddstore.LatencyHistogram;
import org.ddstore.spark.types.LoaderTimes;
import org.ddstore.spark.types.OutsideStatistics;
import org.ddstore.spark.types.ReadCount;
import org.ddstore.spark.types.ReaderStatistics;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.ReadPath;

/**
 * The report of a process about a resident store; see {@link
 * org.ddstore.spark.types.ExecutorStatistics}.
 *
 * @param shards number of confirmed shards
 * @param rows number of their rows
 * @param bytes memory of their rows, in bytes
 * @param leases number of shards that the driver has not confirmed yet
 * @param servedRequests number of gather requests served to other processes
 * @param readers reads of this process; the first {@value #MAX_READERS} are sent
 * @param outside reads of readers outside of the application, as many at most
 */
record ExecutorCounters(
    int shards,
    long rows,
    long bytes,
    int leases,
    long servedRequests,
    List<ReaderStatistics> readers,
    List<OutsideStatistics> outside) {
  /** Keeps the largest report below {@link org.ddstore.transport.PeerCalls#MAX_BYTES}. */
  private static final int MAX_READERS = 4_400;

  private static final int MAX_NAME_BYTES = 64;
  private static final int HEAD_BYTES = 2 * Integer.BYTES + 3 * Long.BYTES + 2 * Integer.BYTES;
  private static final int READER_BYTES =
      1
          + MAX_NAME_BYTES
          + ReadPath.values().length * 3 * Long.BYTES
          + 1
          + LatencyHistogram.BUCKETS * (1 + Long.BYTES)
          + 5 * Long.BYTES;
  private static final int OUTSIDE_BYTES = 1 + MAX_NAME_BYTES + Integer.BYTES + 3 * Long.BYTES;

  /** Returns this report with the reads of an earlier visit of the same process. */
  ExecutorCounters plus(List<ReaderStatistics> earlier) {
    Map<String, ReaderStatistics> sums = new LinkedHashMap<>();
    earlier.forEach(reader -> sums.put(reader.reader(), reader));
    readers.forEach(reader -> sums.merge(reader.reader(), reader, ReaderStatistics::plus));
    return new ExecutorCounters(
        shards, rows, bytes, leases, servedRequests, List.copyOf(sums.values()), outside);
  }

  /** Encodes the report for a process with the same version of this class. */
  ByteBuffer encode() {
    List<ReaderStatistics> sent = first(readers);
    List<OutsideStatistics> sentOutside = first(outside);
    ByteBuffer to =
        ByteBuffer.allocate(
            HEAD_BYTES + sent.size() * READER_BYTES + sentOutside.size() * OUTSIDE_BYTES);
    to.putInt(shards).putLong(rows).putLong(bytes).putInt(leases).putLong(servedRequests);
    to.putInt(sent.size());
    sent.forEach(reader -> encode(reader, to));
    to.putInt(sentOutside.size());
    for (OutsideStatistics grant : sentOutside) {
      putName(grant.label(), to);
      to.putInt(grant.channels());
      to.putLong(grant.requests()).putLong(grant.rows()).putLong(grant.bytes());
    }
    return to.flip();
  }

  private static <T> List<T> first(List<T> all) {
    return all.subList(0, Math.min(all.size(), MAX_READERS));
  }

  private static void encode(ReaderStatistics reader, ByteBuffer to) {
    putName(reader.reader(), to);
    for (ReadCount count : reader.reads()) { // one per path
      to.putLong(count.calls()).putLong(count.rows()).putLong(count.bytes());
    }
    List<Long> buckets = reader.latency().counts();
    to.put((byte) buckets.stream().filter(count -> count != 0).count());
    for (int bucket = 0; bucket < buckets.size(); bucket++) {
      if (buckets.get(bucket) != 0) {
        to.put((byte) bucket).putLong(buckets.get(bucket));
      }
    }
    LoaderTimes loader = reader.loader();
    to.putLong(loader.batches()).putLong(loader.waitNanos()).putLong(loader.idleNanos());
    to.putLong(loader.readNanos()).putLong(loader.computeNanos());
  }

  private static void putName(String name, ByteBuffer to) {
    byte[] text = name.getBytes(StandardCharsets.UTF_8);
    int length = Math.min(text.length, MAX_NAME_BYTES);
    to.put((byte) length).put(text, 0, length);
  }

  /**
   * Parses an encoded report.
   *
   * @throws DDStoreException if it is malformed
   */
  static ExecutorCounters parse(ByteBuffer from) {
    try {
      return new ExecutorCounters(
          from.getInt(),
          from.getLong(),
          from.getLong(),
          from.getInt(),
          from.getLong(),
          list(from, ExecutorCounters::reader),
          list(from, ExecutorCounters::outside));
    } catch (BufferUnderflowException | IllegalArgumentException | IndexOutOfBoundsException e) {
      throw new DDStoreException("malformed report of a process about its reads: " + e, e);
    }
  }

  private static <T> List<T> list(ByteBuffer from, Function<ByteBuffer, T> element) {
    int count = from.getInt();
    if (count < 0 || count > MAX_READERS) {
      throw new IllegalArgumentException(
          "%d elements outside [0, %d]".formatted(count, MAX_READERS));
    }
    List<T> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      all.add(element.apply(from));
    }
    return all;
  }

  private static ReaderStatistics reader(ByteBuffer from) {
    String name = name(from);
    List<ReadCount> reads = new ArrayList<>();
    for (ReadPath path : ReadPath.values()) {
      reads.add(new ReadCount(path, from.getLong(), from.getLong(), from.getLong()));
    }
    List<Long> buckets = new ArrayList<>(Collections.nCopies(LatencyHistogram.BUCKETS, 0L));
    for (int left = from.get(); left > 0; left--) {
      buckets.set(from.get(), from.getLong());
    }
    LoaderTimes loader =
        new LoaderTimes(
            from.getLong(), from.getLong(), from.getLong(), from.getLong(), from.getLong());
    return new ReaderStatistics(name, reads, new LatencyHistogram(buckets), loader);
  }

  private static OutsideStatistics outside(ByteBuffer from) {
    return new OutsideStatistics(
        name(from), from.getInt(), from.getLong(), from.getLong(), from.getLong());
  }

  private static String name(ByteBuffer from) {
    int length = from.get();
    if (length < 0 || length > MAX_NAME_BYTES) {
      throw new IllegalArgumentException("name of %d bytes".formatted(length));
    }
    byte[] text = new byte[length];
    from.get(text);
    return new String(text, StandardCharsets.UTF_8);
  }
}
