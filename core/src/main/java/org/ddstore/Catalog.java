// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.types.Internal;
import org.ddstore.types.Schema;

/**
 * A description of a store for readers that attach to it: its variables and the addresses of their
 * segments. A catalog is a snapshot of the store. Immutable; {@link #toBytes()} serializes it for
 * other processes. It gives other users no access: the segment files have mode 0600.
 */
public final class Catalog {
  private static final byte VERSION = 1;

  private static final ContentCache<Catalog> PARSED = new ContentCache<>();

  private final int ranks;
  private final List<Entry> entries;

  /** A variable and its segments in row order, {@code ranks} of them for each append. */
  record Entry(String name, Schema schema, List<SegmentAddress> segments) {
    Entry {
      segments = List.copyOf(segments); // the ranks of a process share them
    }
  }

  Catalog(int ranks, List<Entry> entries) {
    this.ranks = ranks;
    this.entries = List.copyOf(entries);
  }

  /**
   * {@return the catalog of a store with one variable, whose shards outlive the stores of their
   * ranks}
   *
   * @param ranks number of ranks that hold the store
   * @param name name of the only variable
   * @param schema fields of its records
   * @param segments addresses of the shards in row order: one per rank, then one per rank for each
   *     append
   * @throws IllegalArgumentException if the number of segments is 0 or not a multiple of the number
   *     of ranks
   */
  @Internal
  public static Catalog of(int ranks, String name, Schema schema, List<SegmentAddress> segments) {
    Objects.requireNonNull(name, "name is null");
    Objects.requireNonNull(schema, "schema is null");
    Objects.requireNonNull(segments, "segments is null");
    if (ranks < 1 || segments.isEmpty() || segments.size() % ranks != 0) {
      throw new IllegalArgumentException(
          "%d segments for %d ranks: the number must be a positive multiple of the ranks"
              .formatted(segments.size(), ranks));
    }
    return new Catalog(ranks, List.of(new Entry(name, schema, List.copyOf(segments))));
  }

  /** {@return the number of ranks that hold the store} */
  public int ranks() {
    return ranks;
  }

  /** {@return the names of the variables, in the order in which they were added} */
  public List<String> variables() {
    return entries.stream().map(Entry::name).toList();
  }

  List<Entry> entries() {
    return entries;
  }

  /**
   * {@return the addresses of the segments of a variable in row order: {@code ranks()} for the
   * variable and {@code ranks()} for each append}
   *
   * @param variable name of a variable
   * @throws IllegalArgumentException if there is no such variable
   */
  @Internal
  public List<SegmentAddress> segments(String variable) {
    return entry(variable).segments();
  }

  /**
   * {@return the schema of a variable's records} Throws like {@link #segments}.
   *
   * @param variable name of a variable
   */
  public Schema schema(String variable) {
    return entry(variable).schema();
  }

  private Entry entry(String variable) {
    Objects.requireNonNull(variable, "variable is null");
    return entries.stream()
        .filter(entry -> entry.name().equals(variable))
        .findAny()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "no variable \"%s\": choose one of %s".formatted(variable, variables())));
  }

  /** Returns the variables of a store; throws unless the catalogs are copies of each other. */
  static List<SegmentCopies> join(List<Catalog> copies) {
    if (copies.isEmpty()) {
      throw new IllegalArgumentException("the list of catalogs is empty: give at least one");
    }
    Catalog first = copies.get(0);
    for (Catalog copy : copies) {
      if (copy.ranks != first.ranks || !copy.variables().equals(first.variables())) {
        throw new IllegalArgumentException(
            "catalogs differ: %s is not a copy of %s; ranks and variables must be equal"
                .formatted(copy, first));
      }
    }
    List<SegmentCopies> joined = new ArrayList<>();
    for (String name : first.variables()) {
      joined.add(
          new SegmentCopies(
              first.ranks,
              copies.stream().map(copy -> copy.entry(name)).toList(),
              SegmentCopies.PROBE_PERIOD));
    }
    return joined;
  }

  /** {@return the catalog as bytes, for {@link #parse}} */
  public byte[] toBytes() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(VERSION);
      out.writeInt(ranks);
      out.writeInt(entries.size());
      for (Entry entry : entries) {
        out.writeUTF(entry.name());
        write(out, entry.schema().toBytes());
        out.writeInt(entry.segments().size());
        for (SegmentAddress segment : entry.segments()) {
          write(out, segment.toBytes());
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  private static void write(DataOutputStream out, byte[] bytes) throws IOException {
    out.writeInt(bytes.length);
    out.write(bytes);
  }

  /**
   * Parses the bytes that {@link #toBytes()} returned.
   *
   * @param bytes bytes of a catalog
   * @return the catalog; the same one for equal bytes, as long as it is in use in this process
   * @throws IllegalArgumentException if the bytes are not a catalog of this version
   */
  public static Catalog parse(byte[] bytes) {
    Objects.requireNonNull(bytes, "bytes is null");
    return PARSED.get(() -> parseNew(bytes), bytes);
  }

  private static Catalog parseNew(byte... bytes) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      byte version = in.readByte();
      if (version != VERSION) {
        throw new IllegalArgumentException(
            "catalog of version %d; this program reads %d".formatted(version, VERSION));
      }
      int ranks = in.readInt();
      List<Entry> entries = new ArrayList<>();
      for (int left = in.readInt(); left > 0; left--) {
        String name = in.readUTF();
        ByteBuffer schema = ByteBuffer.wrap(read(in)).order(ByteOrder.LITTLE_ENDIAN);
        List<SegmentAddress> segments = new ArrayList<>();
        for (int remaining = in.readInt(); remaining > 0; remaining--) {
          segments.add(SegmentAddress.parse(read(in)));
        }
        entries.add(new Entry(name, Schema.parse(schema), segments));
      }
      return new Catalog(ranks, entries);
    } catch (IOException | UncheckedIOException e) {
      throw new IllegalArgumentException(
          "array of %d bytes is not a catalog".formatted(bytes.length), e);
    }
  }

  private static byte[] read(DataInputStream in) throws IOException {
    int length = in.readInt();
    if (length < 0 || length > in.available()) {
      throw new IOException(
          "a part has length %d, %d bytes are left".formatted(length, in.available()));
    }
    return in.readNBytes(length);
  }

  @Override
  public String toString() {
    return "Catalog[%d ranks, variables %s]".formatted(ranks, variables());
  }
}
