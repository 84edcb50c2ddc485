// SPDX-License-Identifier: Apache-2.0
package org.ddstore.transport;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Objects;
import org.ddstore.memory.BootId;
import org.ddstore.memory.Nonce;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.memory.Segment;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.ProcessAddress;
import org.ddstore.types.RankLostException;
import org.ddstore.types.ReadPath;
import org.ddstore.types.Schema;

/**
 * The address of a segment, by which other ranks find it.
 *
 * @param nonce unique identifier of the segment
 * @param host host of the owner; only its processes may map the file
 * @param path file that processes of the same host may map, or null
 * @param rows number of rows
 * @param dataBytes size of the packed records in bytes
 * @param process human-readable owner, {@code pid@host}
 * @param endpoint network address of the process that serves it, or null
 */
public record SegmentAddress(
    Nonce nonce,
    BootId host,
    String path,
    long rows,
    long dataBytes,
    String process,
    ProcessAddress endpoint) {
  public static SegmentAddress of(Segment segment, String process, Reach reach) {
    return new SegmentAddress(
        segment.nonce(),
        BootId.ofThisHost(),
        segment.path(),
        segment.rows(),
        segment.dataBytes(),
        process,
        reach.local());
  }

  public byte[] toBytes() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeLong(nonce.high());
      out.writeLong(nonce.low());
      out.writeLong(host.bits());
      out.writeUTF(path == null ? "" : path);
      out.writeLong(rows);
      out.writeLong(dataBytes);
      out.writeUTF(process);
      byte[] endpointBytes = endpoint == null ? new byte[0] : endpoint.toBytes();
      out.writeShort(endpointBytes.length);
      out.write(endpointBytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /**
   * Parses the bytes that {@link #toBytes()} returned.
   *
   * @throws IllegalArgumentException if they are not an address
   */
  public static SegmentAddress parse(byte[] bytes) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      Nonce nonce = new Nonce(in.readLong(), in.readLong());
      BootId host = new BootId(in.readLong());
      String path = in.readUTF();
      long rows = in.readLong();
      long dataBytes = in.readLong();
      String process = in.readUTF();
      byte[] endpoint = in.readNBytes(in.readUnsignedShort());
      return new SegmentAddress(
          nonce,
          host,
          path.isEmpty() ? null : path,
          rows,
          dataBytes,
          process,
          endpoint.length == 0 ? null : ProcessAddress.parse(endpoint));
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "invalid segment address of %d bytes".formatted(bytes.length), e);
    }
  }

  /** Attaches to the segment of a rank: maps its memory if possible, else uses the transport. */
  public Attachment attach(int rank, Schema schema, Reach reach) {
    if (!reach.shortcut()) {
      return attachRemote(rank, schema, reach, null);
    }
    try {
      if (path != null && host.isThisHost() && !Segment.isHere(nonce)) {
        ProcessDirectory.checkHolds(Path.of(path));
      }
      Segment segment = Segment.attach(nonce, host, path);
      checkContent(segment, schema);
      return segment.isOwned()
          ? Attachment.local(segment, ReadPath.OWN_PROCESS, () -> "memory of this process")
          : Attachment.local(
              segment, ReadPath.SAME_HOST, () -> "mapped " + path + ", boot id and nonce match");
    } catch (IOException | InvalidPathException e) {
      String problem = reason(e);
      if (reach.transport() != null) {
        return attachRemote(rank, schema, reach, problem);
      }
      throw new DDStoreException(
          "the rows of rank %d (process %s) cannot be reached: %s. There is no transport between the two processes: run all ranks on one host with shm or file backing"
              .formatted(rank, process, detail(problem)),
          e);
    }
  }

  /** Checks that the rows are those of this address, which can come from a hostile handle. */
  private void checkContent(Segment segment, Schema schema) throws IOException {
    if (segment.rows() != rows || !segment.schema().equals(schema)) {
      String content =
          "it has %,d rows of %s, not %,d of %s"
              .formatted(segment.rows(), segment.schema(), rows, schema);
      segment.release();
      throw new IOException(content);
    }
  }

  /**
   * @param problem reason why the memory cannot be mapped; null if the shortcut is off
   */
  private Attachment attachRemote(int rank, Schema schema, Reach reach, String problem) {
    if (endpoint == null) {
      String text =
          "the rows of rank %d (process %s) cannot be reached: %s, and no port of this process is known: it has ended, or opened none; if this is a handle, take a new one"
              .formatted(rank, process, detail(problem));
      boolean hasEnded = path != null && host.isThisHost() && !new File(path).exists();
      throw hasEnded ? new RankLostException(rank, text) : new DDStoreException(text);
    }
    String description = reach.transport().description().intern();
    int recordBytes = schema.isFixed() ? schema.fixedBytes() : 0;
    return Attachment.remote(
        new RemoteSegment(nonce, endpoint, rank, rows, recordBytes),
        () -> "%s to %s (%s)".formatted(description, endpoint, detail(problem)));
  }

  private String detail(String problem) {
    return problem == null
        ? "the shortcut is off"
        : (path == null ? "no file" : path) + ": " + problem;
  }

  private static String reason(Exception e) {
    return e instanceof java.nio.file.NoSuchFileException
        ? "no such file here (another host or container?)"
        : Objects.toString(e.getMessage(), e.getClass().getSimpleName());
  }
}
