package org.ddstore;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
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
import org.ddstore.types.RankLostException;
import org.ddstore.types.ReadPath;
import org.ddstore.types.Schema;

/**
 * A named global row space with a schema. The rows of all ranks follow each other in rank order;
 * what is appended later follows at the end.
 */
public final class Variable {
  /** Of the time for a read, in which a process may be silent while there are other copies. */
  private static final int SILENCE_SHARE = 4;

  private final int rank;
  private final String name;
  private final Schema schema;
  private final ReadGate gate;
  private final Reach reach;
  private final List<Segment> ownSegments = new CopyOnWriteArrayList<>();
  private final List<Attachment> attachments = new CopyOnWriteArrayList<>();
  private final List<SegmentAddress> addresses = new CopyOnWriteArrayList<>();
  private final Set<Reader> readers = ConcurrentHashMap.newKeySet();
  private final ConcurrentLinkedQueue<Reader> idleReaders = new ConcurrentLinkedQueue<>();
  private final Map<ReadPath, ReadStatistics> ofClosedReaders = new EnumMap<>(ReadPath.class);
  private volatile SegmentCopies copies; // set once; what is in it is guarded by attachments
  private final AtomicLong version = new AtomicLong();
  private volatile String readOnly; // the reason; null if rows can be changed
  private volatile DDStoreException unreadable; // the reason; null if rows can be read
  private volatile Placement placement = new Placement(ExtentMap.EMPTY, List.of());

  Variable(int rank, String name, Schema schema, ReadGate gate, Reach reach) {
    this.rank = rank;
    this.name = name;
    this.schema = schema;
    this.gate = gate;
    this.reach = reach;
  }

  public String name() {
    return name;
  }

  public Schema schema() {
    return schema;
  }

  /** All rows of all ranks. Grows by appends only. */
  public long rows() {
    return placement.rows();
  }

  /**
   * How many calls of {@link DDStore#epochBegin} have changed rows, or may have before they failed,
   * on whatever rank; appends do not count. A reader that is no rank is not told, and has 0.
   */
  public long version() {
    return version.get();
  }

  /** By the thread of the collective. */
  void changed() {
    version.incrementAndGet();
  }

  /**
   * Refuses all reads from now on, because the rows may be of two epochs. By the thread of the
   * collective.
   */
  void changedInPart(Throwable cause) {
    version.incrementAndGet();
    unreadable =
        new DDStoreException(
            "rows of \"%s\" cannot be read any more: epochBegin() failed on rank %d, and some may have changed while others have not; close the store and load the rows again"
                .formatted(name, rank),
            cause);
  }

  /** Throws if reads are refused. */
  void checkReadable() {
    DDStoreException reason = unreadable;
    if (reason != null) {
      throw new DDStoreException(reason.getMessage(), reason.getCause());
    }
  }

  /** Refuses updates and appends from now on. */
  void setReadOnly(String reason) {
    readOnly = reason;
  }

  /** Why rows can be neither updated nor appended; null if they can. */
  String readOnlyReason() {
    return readOnly;
  }

  /** Bytes of the packed records of all ranks. */
  long dataBytes() {
    return addresses.stream().mapToLong(SegmentAddress::dataBytes).sum();
  }

  /** Rows that this rank holds. */
  public long localRows() {
    return rowsOf(rank);
  }

  /** Rows that a rank holds. */
  public long rowsOf(int ofRank) {
    ExtentMap extents = placement.extents();
    long rows = 0;
    for (int e = 0; e < extents.extents(); e++) {
      rows += extents.rank(e) == ofRank ? extents.rows(e) : 0;
    }
    return rows;
  }

  /**
   * The global index of the first row that a rank added; what it appended later lies elsewhere.
   *
   * @param ofRank of [0, ranks)
   */
  public long firstRowOf(int ofRank) {
    return placement.extents().firstRow(ofRank);
  }

  /**
   * A reader of some fields, or of all if none is named. To be closed by the caller; closing the
   * store ends it as well.
   *
   * @throws IllegalArgumentException if there is no such field, or one is named twice
   */
  public Reader reader(String... fields) {
    Objects.requireNonNull(fields, "fields is null");
    for (Object element : fields) {
      Objects.requireNonNull(element, "an element of fields is null");
    }
    return reader(ReaderOptions.defaults().withFields(fields));
  }

  /**
   * As {@link #reader(String...)}, with more to choose.
   *
   * @throws IllegalArgumentException also if a cast is of no fixed field that is read, or not legal
   */
  public Reader reader(ReaderOptions options) {
    Objects.requireNonNull(options, "options is null");
    gate.checkOpen();
    Reader reader = new Reader(this, gate.newPass(), new Projection(this, options));
    readers.add(reader);
    return reader;
  }

  /**
   * The memory that holds a row and its neighbours of the same segment, for reads in place. Local.
   *
   * @param row a global index
   * @return to be closed by the caller; empty if the row comes over a transport
   * @throws IndexOutOfBoundsException if the row is outside
   */
  public Optional<RecordMemory> memory(long row) {
    ReadGate.Pass pass = gate.newPass();
    pass.enter(this);
    try {
      Placement now = placement();
      now.check(row, 1, name);
      int extent = now.extents().extentOf(row);
      Segment segment = now.segment(extent);
      return segment != null && segment.retain()
          ? Optional.of(new RecordMemory(segment, now.extents().firstRow(extent), now.path(extent)))
          : Optional.empty();
    } finally {
      pass.exit();
      pass.retire(this);
    }
  }

  void forget(Reader reader) {
    synchronized (ofClosedReaders) {
      if (readers.remove(reader)) {
        for (ReadPath path : ReadPath.values()) {
          ofClosedReaders.merge(path, reader.statistics(path), ReadStatistics::plus);
        }
      }
    }
  }

  /** What was read of this variable by this rank, over each path. */
  public List<ReadStatistics> statistics() {
    synchronized (ofClosedReaders) {
      List<ReadStatistics> all = new ArrayList<>();
      for (ReadPath path : ReadPath.values()) {
        ReadStatistics sum = ofClosedReaders.getOrDefault(path, ReadStatistics.none(path));
        for (Reader reader : readers) {
          sum = sum.plus(reader.statistics(path));
        }
        all.add(sum);
      }
      return all;
    }
  }

  /** A reader of all fields for one call; give it back by {@link #giveBack}. */
  Reader borrowReader() {
    Reader reader = idleReaders.poll();
    return reader == null ? reader() : reader;
  }

  void giveBack(Reader reader) {
    idleReaders.add(reader);
  }

  /**
   * Where the rows are, to be read.
   *
   * @throws DDStoreException if reads are refused
   */
  Placement placement() {
    checkReadable();
    return placement;
  }

  /** Where the rows are, to be described. */
  Placement layout() {
    return placement;
  }

  /** The address of the segment of each extent. */
  List<SegmentAddress> addresses() {
    return addresses;
  }

  /**
   * The memory, in bytes, that a reader of batches of so many rows takes at most for those that are
   * remote; 0 if memory reaches all rows. Of ragged rows their data is not counted, which is not
   * known before.
   */
  public long mostStagingBytes(long rowsOfBatch) {
    return RowLocator.mostBytes(placement, schema, rowsOfBatch);
  }

  /** For one reader; only if some rows are remote. */
  RemoteReader newRemoteReader() {
    return reach.transport().newReader(reach.readTimeout());
  }

  /** What the readers of the store pass. */
  ReadGate gate() {
    return gate;
  }

  List<Segment> ownSegments() {
    return ownSegments;
  }

  /** What the catalog says of this variable. */
  Catalog.Entry entry() {
    ExtentMap extents = placement.extents();
    return new Catalog.Entry(name, schema, List.copyOf(addresses).subList(0, extents.extents()));
  }

  /** Adds one extent per rank. By the thread of the collective. */
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
   * Makes all rows ones that others hold. Called once.
   *
   * @param attached one per extent
   */
  void attach(SegmentCopies from, List<SegmentCopies.Chosen> attached) {
    synchronized (attachments) {
      copies = from;
      readOnly = "its shards belong to a resident store, not to these ranks";
      attached.forEach(
          chosen -> {
            addresses.add(chosen.address());
            attachments.add(chosen.attachment());
          });
      ExtentMap extents = ExtentMap.EMPTY;
      for (int first = 0; first < attached.size(); first += from.ranks()) {
        extents = appended(extents, addresses.subList(first, first + from.ranks()));
      }
      placement = new Placement(extents, attachments);
    }
  }

  /** True if others hold the rows, and free them: nothing can be changed or appended here. */
  boolean isAdopted() {
    synchronized (attachments) {
      return copies != null;
    }
  }

  /** How long a read may take whose rows come over a transport, or are being changed. */
  Duration readTimeout() {
    return reach.readTimeout();
  }

  /**
   * Throws if the process of a rank has ended while it changed rows that are read from its memory.
   *
   * @param ofRank -1 for none
   */
  void checkChangingRankLives(int ofRank) {
    Placement now = placement;
    for (int e = 0; e < now.extents().extents(); e++) {
      Segment segment = now.segment(e);
      if (now.extents().rank(e) == ofRank && segment != null && !segment.ownerLives()) {
        throw new RankLostException(
            ofRank,
            "the process of rank %d has ended in epochBegin(), while it changed its rows of \"%s\": they are incomplete and cannot be read; close the store and load the rows again"
                .formatted(ofRank, name));
      }
    }
  }

  /** How long a process may be silent in a read that can go on with another copy. */
  Duration silence() {
    return reach.readTimeout().dividedBy(SILENCE_SHARE);
  }

  /** How many copies there are of the rows, one for each catalog. */
  int copies() {
    return copies == null ? 1 : copies.copies();
  }

  /** Whether others have copies of all that a process serves to readers of this variable. */
  boolean hasOtherCopies(ProcessAddress process) {
    synchronized (attachments) {
      for (int e = 0; e < attachments.size(); e++) {
        boolean isServed =
            attachments.get(e).segment() == null && process.equals(addresses.get(e).endpoint());
        if (isServed && (copies == null || !copies.hasOther(e, process))) {
          return false;
        }
      }
      return true;
    }
  }

  /** Where rows are read now that were there when a read began: copies take over meanwhile. */
  Placement current(Placement ofRead) {
    return copies == null ? ofRead : placement;
  }

  /**
   * Goes on with other copies of what processes served that are gone or silent.
   *
   * @param seen the placement in which they were met
   * @return false if there are none; else the read may be tried again by {@link #placement()}
   */
  boolean failOver(Placement seen, Set<ProcessAddress> gone, Set<ProcessAddress> silent) {
    synchronized (attachments) {
      if (copies == null || (gone.isEmpty() && silent.isEmpty())) {
        return false;
      }
      if (placement != seen) {
        return true; // another reader was faster, or this one meets what else is gone
      }
      copies.markGone(gone);
      copies.markSilent(silent);
      List<Attachment> fresh = new ArrayList<>(attachments);
      List<SegmentAddress> freshAddresses = new ArrayList<>(addresses);
      try {
        for (int e = 0; e < fresh.size(); e++) {
          ProcessAddress server = addresses.get(e).endpoint();
          boolean isOut = gone.contains(server) || silent.contains(server);
          if (isOut && fresh.get(e).segment() == null) {
            SegmentCopies.Chosen other = copies.attach(e, reach);
            fresh.set(e, other.attachment());
            freshAddresses.set(e, other.address());
          }
        }
      } catch (DDStoreException e) {
        fresh.stream().filter(a -> !attachments.contains(a)).forEach(Attachment::release);
        copies.forgetSilent();
        return false;
      }
      for (int e = 0; e < fresh.size(); e++) {
        attachments.set(e, fresh.get(e));
        addresses.set(e, freshAddresses.get(e));
      }
      placement = new Placement(seen.extents(), attachments);
      return true;
    }
  }

  /** Removes the names of own files and ends their export, so that nothing new reaches them. */
  void unlink() {
    Cleanup.runAll(
        ownSegments.stream()
            .flatMap(
                segment -> Stream.of((Runnable) segment::unlink, () -> reach.withdraw(segment))));
  }

  /** Gives all memory back. No reader is inside. */
  void free() {
    Cleanup.runAll(
        Stream.of(
                readers.stream().map(reader -> (Runnable) reader::close),
                attachments.stream().map(attached -> (Runnable) attached::release),
                ownSegments.stream().map(segment -> (Runnable) segment::release))
            .flatMap(steps -> steps));
  }

  @Override
  public String toString() {
    return "Variable[\"%s\", %,d rows of %s]".formatted(name, rows(), schema);
  }
}
