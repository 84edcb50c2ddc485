// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import java.util.function.LongToIntFunction;
import java.util.stream.Stream;
import org.ddstore.memory.BootId;
import org.ddstore.memory.Nonce;
import org.ddstore.memory.Segment;
import org.ddstore.memory.SegmentWriter;
import org.ddstore.transport.Attachment;
import org.ddstore.transport.PeerRows;
import org.ddstore.transport.Reach;
import org.ddstore.transport.RemoteReader;
import org.ddstore.transport.RemoteSegment;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.transport.Transport;
import org.ddstore.types.Backing;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.ProcessAddress;
import org.ddstore.types.ReadPath;
import org.ddstore.types.Schema;

/**
 * A transport that computes the rows of other processes, which can be gone or silent. Row r of a
 * fixed schema begins with r as int64; in a schema of one bytes field all its bytes are r.
 */
final class ComputedPeers implements Transport {
  static final int RANK_ROWS = 4;

  static final ProcessAddress A = new ProcessAddress("a", 1, 1);
  static final ProcessAddress B = new ProcessAddress("b", 1, 2);

  private static final int MOST_FETCHES = 20;

  private final Schema schema;
  private final LongToIntFunction dataBytes;
  private final Duration timeout;
  private final Set<ProcessAddress> gone = new HashSet<>();
  private final Set<ProcessAddress> silent = new HashSet<>();
  private final List<ProcessAddress> asked = new ArrayList<>();
  private final List<List<Long>> fetches = new ArrayList<>();
  private final Map<ProcessAddress, CompletableFuture<Void>> probes = new HashMap<>();
  private final List<Duration> silenceLimits = new ArrayList<>();
  private Consumer<ProcessAddress> beforeSilence = process -> {};

  private ComputedPeers(Schema schema, LongToIntFunction dataBytes, Duration timeout) {
    this.schema = schema;
    this.dataBytes = dataBytes;
    this.timeout = timeout;
  }

  static ComputedPeers ofFixed(Schema schema, Duration timeout) {
    return new ComputedPeers(schema, row -> 0, timeout);
  }

  /**
   * @param dataBytes size of the bytes field by row
   */
  static ComputedPeers ofBytes(Schema schema, LongToIntFunction dataBytes) {
    return new ComputedPeers(schema, dataBytes, Duration.ofMinutes(1));
  }

  Variable besideOwnRows(ProcessAddress... others) {
    Segment own = ownRows();
    own.retain(); // for its attachment
    List<SegmentAddress> addresses = new ArrayList<>(List.of(address(local())));
    List<Attachment> attachments =
        new ArrayList<>(List.of(new Attachment(own, null, ReadPath.OWN_PROCESS, () -> "own")));
    for (ProcessAddress other : others) {
      RemoteSegment remote =
          new RemoteSegment(
              Nonce.random(), other, addresses.size(), RANK_ROWS, schema.fixedBytes());
      addresses.add(address(other));
      attachments.add(new Attachment(null, remote, ReadPath.REMOTE, () -> "computed"));
    }
    Variable variable = variable(true);
    variable.append(own, addresses, attachments);
    return variable;
  }

  private Segment ownRows() {
    ByteBuffer records =
        ByteBuffer.allocate(RANK_ROWS * schema.fixedBytes()).order(ByteOrder.LITTLE_ENDIAN);
    for (int row = 0; row < RANK_ROWS; row++) {
      records.putLong(row * schema.fixedBytes(), row);
    }
    SegmentWriter writer =
        SegmentWriter.create(Backing.DIRECT, Path.of("unused"), "computed", schema);
    writer.appendRows(records);
    return writer.seal();
  }

  Variable inCopies(ProcessAddress[]... copies) {
    List<Catalog.Entry> entries =
        Stream.of(copies)
            .map(ranks -> Stream.of(ranks).map(this::address).toList())
            .map(segments -> new Catalog.Entry("x", schema, segments))
            .toList();
    Variable variable = variable(false);
    SegmentCopies source = new SegmentCopies(copies[0].length, entries, Duration.ZERO);
    variable.attach(source, source.attachAll(new Reach(this, false, timeout)));
    return variable;
  }

  private Variable variable(boolean shortcut) {
    ReadGate gate = new ReadGate(this, () -> {});
    return new Variable(0, "x", schema, gate, new Reach(this, shortcut, timeout));
  }

  private SegmentAddress address(ProcessAddress process) {
    return new SegmentAddress(
        Nonce.random(), BootId.ofThisHost(), null, RANK_ROWS, 0, process.host(), process);
  }

  void end(ProcessAddress process) {
    gone.add(process);
  }

  /**
   * Keeps processes silent.
   *
   * @param before called with the process before each fetch that meets its silence
   */
  void silence(Consumer<ProcessAddress> before, ProcessAddress... processes) {
    beforeSilence = before;
    silent.addAll(Arrays.asList(processes));
  }

  List<ProcessAddress> asked() {
    return asked;
  }

  List<List<Long>> fetches() {
    return fetches;
  }

  List<Duration> silenceLimits() {
    return silenceLimits;
  }

  @Override
  public RemoteReader newReader(Duration readTimeout) {
    return new RemoteReader() {
      @Override
      public void begin() {
        throw new UnsupportedOperationException();
      }

      @Override
      public void begin(
          Duration silence, BiPredicate<ProcessAddress, Set<ProcessAddress>> replaceable) {
        silenceLimits.add(silence);
      }

      @Override
      public void fetch(List<PeerRows> peers) {
        ComputedPeers.this.fetch(peers);
      }

      @Override
      public void close() {}
    };
  }

  @Override
  public CompletableFuture<?> probe(ProcessAddress process) {
    return probes.computeIfAbsent(process, asked -> new CompletableFuture<>());
  }

  /** Lets a silent process serve rows again. */
  void goOn(ProcessAddress process) {
    silent.remove(process);
  }

  /** Lets silent processes serve rows again, and answer their probes. */
  void answer(ProcessAddress... processes) {
    for (ProcessAddress process : processes) {
      silent.remove(process);
      probes.remove(process).complete(null);
    }
  }

  private void fetch(List<PeerRows> peers) {
    if (fetches.size() == MOST_FETCHES) {
      throw new AssertionError("more than %d fetches".formatted(MOST_FETCHES));
    }
    List<Long> rows = new ArrayList<>();
    fetches.add(rows);
    for (PeerRows peer : peers) {
      asked.add(peer.process());
      if (gone.contains(peer.process())) {
        throw peer.lost();
      }
      if (silent.contains(peer.process())) {
        beforeSilence.accept(peer.process());
        peer.markSilent();
        throw new DeadlineExceededException(peer.process() + " is silent");
      }
      send(peer, rows);
    }
  }

  private void send(PeerRows peer, List<Long> rows) {
    long[] rowOfSlot = new long[peer.rows()];
    for (int run = 0; run < peer.runs(); run++) {
      long row = (long) peer.segment(run).rank() * RANK_ROWS + peer.firstRow(run);
      for (int slot = peer.firstSlot(run); slot < peer.firstSlot(run + 1); slot++) {
        rowOfSlot[slot] = row++;
        rows.add(rowOfSlot[slot]);
        if (!schema.isFixed()) {
          peer.setLength(slot, schema.prefixBytes() + dataBytes.applyAsInt(rowOfSlot[slot]));
        }
      }
    }
    ByteBuffer staging = peer.reserve().duplicate().order(ByteOrder.LITTLE_ENDIAN);
    for (int slot = 0; slot < rowOfSlot.length; slot++) {
      int at = peer.start(slot);
      if (schema.isFixed()) {
        staging.putLong(at, rowOfSlot[slot]);
      } else {
        byte[] data = new byte[dataBytes.applyAsInt(rowOfSlot[slot])];
        Arrays.fill(data, (byte) rowOfSlot[slot]);
        staging.putInt(at, data.length).put(at + Integer.BYTES, data);
      }
    }
  }

  @Override
  public String description() {
    return "computed";
  }

  @Override
  public ProcessAddress local() {
    return new ProcessAddress("local", 1, 0);
  }

  @Override
  public void export(Segment segment) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void withdraw(Segment segment) {
    throw new UnsupportedOperationException();
  }
}
