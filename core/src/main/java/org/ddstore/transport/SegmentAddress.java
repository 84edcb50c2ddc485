package org.ddstore.transport;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.ddstore.DDStoreException;
import org.ddstore.ReadPath;
import org.ddstore.memory.Nonce;
import org.ddstore.memory.Segment;

/**
 * What a rank tells the others of a segment, so that they find it.
 *
 * @param nonce tells the segment from every other one
 * @param path the file that processes of the same host may map, or null
 * @param rows of the segment
 * @param dataBytes of the packed records
 * @param process the owner, for people: {@code pid@host}
 */
public record SegmentAddress(Nonce nonce, String path, long rows, long dataBytes, String process) {
  /** The address of a segment of this process. */
  public static SegmentAddress of(Segment segment, String process) {
    return new SegmentAddress(
        segment.nonce(), segment.path(), segment.rows(), segment.dataBytes(), process);
  }

  public byte[] toBytes() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeLong(nonce.high());
      out.writeLong(nonce.low());
      out.writeUTF(path == null ? "" : path);
      out.writeLong(rows);
      out.writeLong(dataBytes);
      out.writeUTF(process);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /** Reads the form of {@link #toBytes()}. */
  public static SegmentAddress parse(byte[] bytes) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      Nonce nonce = new Nonce(in.readLong(), in.readLong());
      String path = in.readUTF();
      return new SegmentAddress(
          nonce, path.isEmpty() ? null : path, in.readLong(), in.readLong(), in.readUTF());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Opens the segment for reading by memory.
   *
   * @param rank the owner, for the message
   * @throws DDStoreException if this process cannot reach the memory: it says why
   */
  public Attachment attach(int rank) {
    try {
      Segment segment = Segment.attach(nonce, path);
      return segment.isOwned()
          ? new Attachment(segment, ReadPath.OWN_PROCESS, "memory of this process")
          : new Attachment(segment, ReadPath.SAME_HOST, "mapped " + path + ", nonce matches");
    } catch (IOException e) {
      throw new DDStoreException(
          "the rows of rank %d (process %s) cannot be reached: %s: %s. There is no remote transport in this build: run all ranks on one host with shm or file backing"
              .formatted(rank, process, path == null ? "no file" : path, reason(e)),
          e);
    }
  }

  private static String reason(IOException e) {
    return e instanceof java.nio.file.NoSuchFileException
        ? "no such file here (another host or container?)"
        : e.getMessage();
  }
}
