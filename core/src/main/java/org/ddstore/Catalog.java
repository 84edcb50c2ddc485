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
import org.ddstore.transport.SegmentAddress;

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
  public List<SegmentAddress> segments(String variable) {
    return entries.stream()
        .filter(entry -> entry.name().equals(variable))
        .findAny()
        .map(Entry::segments)
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "no variable \"%s\"; there are %s".formatted(variable, variables())));
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
