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
 * What a reader must know to attach to a store: its variables, and where the segments of each are.
 * A catalog shows the store as it was when it was asked for. Immutable; {@link #toBytes()} carries
 * it to other processes. It opens nothing to another user: the segment files have mode 0600.
 */
public final class Catalog {
  private static final byte VERSION = 1;

  private final int ranks;
  private final List<Entry> entries;

  /** One variable; its segments follow each other in row order, {@code ranks} for each append. */
  record Entry(String name, Schema schema, List<SegmentAddress> segments) {}

  Catalog(int ranks, List<Entry> entries) {
    this.ranks = ranks;
    this.entries = List.copyOf(entries);
  }

  /**
   * The catalog of a store of one variable, made of shards that outlive the stores of their ranks.
   *
   * @param ranks how many ranks hold it
   * @param segments where the shards are, in row order: one of each rank, and as many for each
   *     append
   * @throws IllegalArgumentException if their number is no multiple of the number of ranks
   */
  @Internal
  public static Catalog of(int ranks, String name, Schema schema, List<SegmentAddress> segments) {
    Objects.requireNonNull(name, "name is null");
    Objects.requireNonNull(schema, "schema is null");
    Objects.requireNonNull(segments, "segments is null");
    if (ranks < 1 || segments.isEmpty() || segments.size() % ranks != 0) {
      throw new IllegalArgumentException(
          "%d segments of %d ranks; legal is a multiple of the number of ranks, above 0"
              .formatted(segments.size(), ranks));
    }
    return new Catalog(ranks, List.of(new Entry(name, schema, List.copyOf(segments))));
  }

  /** How many ranks hold the store. */
  public int ranks() {
    return ranks;
  }

  /** The names of the variables, in the order in which they were added. */
  public List<String> variables() {
    return entries.stream().map(Entry::name).toList();
  }

  List<Entry> entries() {
    return entries;
  }

  /**
   * Where the segments of a variable are, in row order: {@code ranks()} of them, and as many more
   * for each append.
   *
   * @throws IllegalArgumentException if there is no such variable
   */
  @Internal
  public List<SegmentAddress> segments(String variable) {
    return entry(variable).segments();
  }

  /** The schema of a variable's records; see {@link #segments} for errors. */
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
                    "no variable \"%s\"; there are %s".formatted(variable, variables())));
  }

  /**
   * The variables of a store of which there are copies.
   *
   * @throws IllegalArgumentException if there is no catalog, or they are not copies of each other
   */
  static List<SegmentCopies> join(List<Catalog> copies) {
    if (copies.isEmpty()) {
      throw new IllegalArgumentException("no catalog");
    }
    Catalog first = copies.get(0);
    for (Catalog copy : copies) {
      if (copy.ranks != first.ranks || !copy.variables().equals(first.variables())) {
        throw new IllegalArgumentException("%s is no copy of %s".formatted(copy, first));
      }
    }
    List<SegmentCopies> joined = new ArrayList<>();
    for (String name : first.variables()) {
      joined.add(
          new SegmentCopies(first.ranks, copies.stream().map(copy -> copy.entry(name)).toList()));
    }
    return joined;
  }

  /** The catalog as bytes, for {@link #parse}. */
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
   * Reads what {@link #toBytes()} gave.
   *
   * @throws IllegalArgumentException if the bytes are not a catalog, or one of another version
   */
  public static Catalog parse(byte[] bytes) {
    Objects.requireNonNull(bytes, "bytes is null");
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
        for (int more = in.readInt(); more > 0; more--) {
          segments.add(SegmentAddress.parse(read(in)));
        }
        entries.add(new Entry(name, Schema.parse(schema), segments));
      }
      return new Catalog(ranks, entries);
    } catch (IOException | UncheckedIOException e) {
      throw new IllegalArgumentException("%d bytes are not a catalog".formatted(bytes.length), e);
    }
  }

  private static byte[] read(DataInputStream in) throws IOException {
    int length = in.readInt();
    if (length < 0 || length > in.available()) {
      throw new IOException(
          "a part of %d bytes where %d are left".formatted(length, in.available()));
    }
    return in.readNBytes(length);
  }

  @Override
  public String toString() {
    return "Catalog[%d ranks, variables %s]".formatted(ranks, variables());
  }
}
