// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.ddstore.layout.ExtentMap;
import org.ddstore.memory.Segment;
import org.ddstore.read.Placement;
import org.ddstore.transport.Attachment;
import org.ddstore.transport.Reach;
import org.ddstore.transport.RemoteReader;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.types.Cleanup;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.ProcessAddress;
import org.ddstore.types.Schema;

/**
 * A named global row space with a schema. The rows of all ranks follow each other in rank order;
 * appended rows follow at the end.
 */
public final class Variable {
  private final int rank;
  private final String name;
  private final Schema schema;
  private final ReadGate gate;
  private final Reach reach;
  private final List<Segment> ownSegments = new CopyOnWriteArrayList<>();
  private final List<Attachment> attachments = new CopyOnWriteArrayList<>();
  private final List<SegmentAddress> addresses = new CopyOnWriteArrayList<>();
  private final OpenReaders readers = new OpenReaders();
  private volatile SegmentCopies copies; // set once; its content is guarded by attachments
  private final AtomicLong version = new AtomicLong();
  private volatile String readOnly; // reason; null if rows can be changed
  private volatile DDStoreException unreadable; // reason; null if rows can be read
  private volatile Placement placement = new Placement(ExtentMap.EMPTY, List.of());

  Variable(int rank, String name, Schema schema, ReadGate gate, Reach reach) {
    this.rank = rank;
    this.name = name;
    this.schema = schema;
    this.gate = gate;
    this.reach = reach;
  }

  /** {@return the name} */
  public String name() {
    return name;
  }

  /** {@return the fields of the records} */
  public Schema schema() {
    return schema;
  }

  /** {@return the number of rows of all ranks} Grows by appends only. */
  public long rows() {
    return placement.rows();
  }

  /**
   * {@return the number of calls of {@link DDStore#epochBegin} that have changed rows on any rank,
   * or may have changed rows before they failed} Appends do not count. Always 0 on a handle that is
   * not a rank.
   */
  public long version() {
    return version.get();
  }

  /** Increments the version. Called by the thread of the collective. */
  void changed() {
    version.incrementAndGet();
  }

  /** Refuses all further reads, because the rows may be of two epochs. */
  void changedInPart(Throwable cause) {
    version.incrementAndGet();
    unreadable =
        new DDStoreException(
            "rows of \"%s\" are unreadable: epochBegin() failed on rank %d, and only some of them may have changed; close the store and load the rows again"
                .formatted(name, rank),
            cause);
  }

  void checkReadable() {
    DDStoreException reason = unreadable;
    if (reason != null) {
      throw new DDStoreException(reason.getMessage(), reason.getCause());
    }
  }

  void setReadOnly(String reason) {
    readOnly = reason;
  }

  /** Returns the reason why rows can be neither updated nor appended; null if they can. */
  String readOnlyReason() {
    return readOnly;
  }

  long dataBytes() {
    return addresses.stream().mapToLong(SegmentAddress::dataBytes).sum();
  }

  /** {@return the number of rows that this rank holds} */
  public long localRows() {
    return rowsOf(rank);
  }

  /**
   * {@return the number of rows that a rank holds}
   *
   * @param owner rank that owns the rows
   */
  public long rowsOf(int owner) {
    return placement.extents().rowsOf(owner);
  }

  /**
   * {@return the global index of the first row that a rank added; rows that it appended later lie
   * elsewhere}
   *
   * @param owner rank in [0, ranks)
   */
  public long firstRowOf(int owner) {
    return placement.extents().firstRow(owner);
  }

  /**
   * Opens a reader of some fields, or of all if none is named. The caller closes it; closing the
   * store closes it as well.
   *
   * @param fields names of the fields to read; all if none is named
   * @return the reader
   * @throws IllegalArgumentException if a field does not exist or is named twice
   */
  public Reader reader(String... fields) {
    Objects.requireNonNull(fields, "fields is null");
    for (Object element : fields) {
      Objects.requireNonNull(element, "an element of fields is null");
    }
    return reader(ReaderOptions.defaults().fields(fields));
  }

  /**
   * Opens a reader like {@link #reader(String...)}, with further options.
   *
   * @param options fields, casts and memory of the reader
   * @return the reader
   * @throws IllegalArgumentException if a field does not exist or is named twice, or a cast is
   *     illegal or does not apply to a selected fixed field
   */
  public Reader reader(ReaderOptions options) {
    Objects.requireNonNull(options, "options is null");
    gate.checkOpen();
    Projection projection = new Projection(this, options); // fails before a pass is registered
    Reader reader = new Reader(this, gate.newPass(), projection);
    readers.add(reader);
    return reader;
  }

  /**
   * Returns the memory that holds a row and the other rows of its segment, for reads in place.
   * Local.
   *
   * @param row a global index
   * @return memory that the caller closes; empty if the row is read over a transport
   * @throws IndexOutOfBoundsException if the row is out of range
   */
  public Optional<RecordMemory> memory(long row) {
    ReadGate.Pass pass = gate.newPass();
    pass.enter(this);
    try {
      Placement current = placement();
      current.check(row, 1, name);
      return RecordMemory.of(current, current.extents().extentOf(row));
    } finally {
      pass.exit();
      pass.retire(this);
    }
  }

  OpenReaders readers() {
    return readers;
  }

  /** {@return the read statistics of this rank for this variable, one per path} */
  public List<ReadStatistics> statistics() {
    return readers.statistics();
  }

  /** {@return the durations of one batch in 64 of each reader of this rank for this variable} */
  public LatencyHistogram latency() {
    return readers.latency();
  }

  /** Returns a reader of all fields for one call; return it with {@link #giveBack}. */
  Reader borrowReader() {
    Reader reader = readers.pollIdle();
    return reader == null ? reader() : reader;
  }

  void giveBack(Reader reader) {
    readers.addIdle(reader);
  }

  /**
   * Returns the placement of the rows for reading.
   *
   * @throws DDStoreException if reads are refused
   */
  Placement placement() {
    checkReadable();
    return placement;
  }

  /** Returns the placement of the rows for descriptions, even if reads are refused. */
  Placement layout() {
    return placement;
  }

  List<SegmentAddress> addresses() {
    return addresses;
  }

  /**
   * {@return the largest memory in bytes that a reader takes for the remote rows of its batches; 0
   * if all rows are in local memory} The data of ragged rows does not count, because its size is
   * not known in advance.
   *
   * @param batchRows number of rows per batch
   */
  public long mostStagingBytes(long batchRows) {
    return RowLocator.mostBytes(placement, schema, batchRows);
  }

  /** Creates a remote reader for one reader; only if some rows are remote. */
  RemoteReader newRemoteReader() {
    return reach.transport().newReader(reach.readTimeout());
  }

  ReadGate gate() {
    return gate;
  }

  List<Segment> ownSegments() {
    return ownSegments;
  }

  Catalog.Entry entry() {
    ExtentMap extents = placement.extents();
    return new Catalog.Entry(name, schema, List.copyOf(addresses).subList(0, extents.extents()));
  }

  /** Adds one extent per rank. Called by the thread of the collective. */
  void append(Segment own, List<SegmentAddress> added, List<Attachment> attached) {
    ownSegments.add(own);
    addresses.addAll(added);
    attachments.addAll(attached);
    placement = new Placement(appended(placement.extents(), added), attachments);
  }

  private static ExtentMap appended(ExtentMap extents, List<SegmentAddress> added) {
    return extents.append(added.stream().mapToLong(SegmentAddress::rows).toArray());
  }

  /**
   * Sets the rows to segments that other processes own. Called once.
   *
   * @param attached attached segments, one per extent
   */
  void attach(SegmentCopies source, List<SegmentCopies.Chosen> attached) {
    synchronized (attachments) {
      copies = source;
      readOnly = "its shards belong to a resident store, not to these ranks";
      addresses.addAll(attached.stream().map(SegmentCopies.Chosen::address).toList());
      attachments.addAll(attached.stream().map(SegmentCopies.Chosen::attachment).toList());
      ExtentMap extents = ExtentMap.EMPTY;
      for (int first = 0; first < attached.size(); first += source.ranks()) {
        extents = appended(extents, addresses.subList(first, first + source.ranks()));
      }
      placement = new Placement(extents, attachments);
    }
  }

  /** Returns whether other processes own the rows, which then cannot be changed or appended to. */
  boolean isAdopted() {
    synchronized (attachments) {
      return copies != null;
    }
  }

  /** Returns the limit for a read of rows over a transport or of rows that are being changed. */
  Duration readTimeout() {
    return reach.readTimeout();
  }

  /** Returns the number of processes that serve the rows or copies of them; 0 without copies. */
  long servingProcesses() {
    return copies == null ? 0 : copies.processes();
  }

  /** Returns whether processes that are not excluded have copies of all rows of another one. */
  boolean hasOtherCopies(ProcessAddress process, Set<ProcessAddress> excluded) {
    synchronized (attachments) {
      if (copies != null) {
        copies.probe(reach); // no read begins if all wait for this process
      }
      for (int e = 0; e < attachments.size(); e++) {
        boolean isServed =
            attachments.get(e).segment() == null && process.equals(addresses.get(e).endpoint());
        if (isServed && (copies == null || !copies.hasOther(e, process, excluded))) {
          return false;
        }
      }
      return true;
    }
  }

  /** Returns the current placement for a read that began with another, if copies took over. */
  Placement current(Placement initial) {
    if (copies == null) {
      return initial;
    }
    if (copies.isProbeDue()) {
      synchronized (attachments) {
        if (copies.readmit(attachments, addresses, reach)) {
          placement = new Placement(placement.extents(), attachments);
        }
      }
    }
    return placement;
  }

  /** Switches to other copies of the rows of gone or silent processes; false if there are none. */
  boolean failOver(Placement seen, Set<ProcessAddress> gone, Set<ProcessAddress> silent) {
    synchronized (attachments) {
      if (copies == null || (gone.isEmpty() && silent.isEmpty())) {
        return false;
      }
      if (placement != seen) {
        return true; // another reader has switched already; a retry finds any further loss
      }
      if (!copies.replace(attachments, addresses, gone, silent, reach)) {
        return false;
      }
      placement = new Placement(seen.extents(), attachments);
      return true;
    }
  }

  /** Unlinks own files and ends their export, so that no further process can attach. */
  void unlink() {
    Cleanup.runAll(
        ownSegments.stream()
            .flatMap(
                segment -> Stream.of((Runnable) segment::unlink, () -> reach.withdraw(segment))));
  }

  /** Releases all memory. Called when no reader is inside. */
  void free() {
    Cleanup.runAll(
        Stream.of(
                Stream.of((Runnable) readers::close),
                attachments.stream().map(attached -> (Runnable) attached::release),
                ownSegments.stream().map(segment -> (Runnable) segment::release))
            .flatMap(steps -> steps));
  }

  @Override
  public String toString() {
    return "Variable[\"%s\", %,d rows of %s]".formatted(name, rows(), schema);
  }
}
