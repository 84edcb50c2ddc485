// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.ddstore.contract.Needed;

/**
 * A process that reads with {@code libddstore_reader}, for one thread; {@code reader_tool.c} has
 * the protocol.
 */
public final class ReaderTool implements AutoCloseable {
  /** The flag of {@code ddstore_reader.h} to map nothing. */
  public static final int PORTS_ONLY = 1;

  /** Codes of {@code ddstore_reader.h}. */
  public static final int INVALID_HANDLE = 2;

  public static final int STORE_GONE = 3;

  public static final int REVOKED = 5;
  public static final int LOST = 7;
  public static final int DEADLINE = 8;

  /** The program that the build of {@code native} makes, see {@link NeedsReaderTool}. */
  public static final Path PROGRAM =
      Path.of(System.getProperty("ddstore.root", ""), "native/target/c/reader_tool");

  /** The same in Python, see {@link NeedsPython}. */
  public static final Path PYTHON_PROGRAM =
      Path.of(System.getProperty("ddstore.root", ""), "python/tests/reader_tool.py");

  private static final int HEADER_BYTES = Integer.BYTES + Long.BYTES;
  private static final long END_SECONDS = 20;

  private final Process process;
  private final OutputStream out;
  private final InputStream in;

  private ReaderTool(Process process) {
    this.process = process;
    this.out = process.getOutputStream();
    this.in = process.getInputStream();
  }

  public static ReaderTool start(Path program) throws IOException {
    String name = program.toString();
    List<String> command =
        name.endsWith(".py") ? List.of(Needed.PYTHON, "-B", name) : List.of(name);
    return new ReaderTool(
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
  }

  /** The code and the text of an error of the library. */
  public static final class Failure extends Exception {
    private static final long serialVersionUID = 1;

    private final int code;

    Failure(int code, String text) {
      super(text);
      this.code = code;
    }

    public int code() {
      return code;
    }
  }

  /** Opens a handle; returns the number of its reader. */
  public int open(String json, int flags) throws IOException, Failure {
    byte[] text = json.getBytes(StandardCharsets.UTF_8);
    send(request('o', 2 * Integer.BYTES + text.length).putInt(flags).putInt(text.length).put(text));
    return result().getInt();
  }

  /**
   * Reads all fields of rows.
   *
   * @return the mapped rows and the remote rows that the reader has read so far, then per field the
   *     offsets, unless it has a fixed shape, and the values
   */
  public ByteBuffer read(int reader, long[] indices, long deadlineMs) throws IOException, Failure {
    ask(reader, indices, deadlineMs);
    return rows();
  }

  private ByteBuffer rows() throws IOException, Failure {
    return result().position(2 * Long.BYTES).slice().order(ByteOrder.nativeOrder());
  }

  /** Sends the request of {@link #read} and does not wait for the rows. */
  public void ask(int reader, long[] indices, long deadlineMs) throws IOException {
    int bytes = 2 * Integer.BYTES + Long.BYTES + indices.length * Long.BYTES;
    ByteBuffer request = request('r', bytes).putInt(reader).putLong(deadlineMs);
    request.putInt(indices.length).asLongBuffer().put(indices);
    send(request.position(request.limit()));
  }

  /** Returns the digest of the fields, as states have it. */
  public String schemaDigest(int reader) throws IOException, Failure {
    send(request('d', Integer.BYTES).putInt(reader));
    return StandardCharsets.US_ASCII.decode(result()).toString();
  }

  public void close(int reader) throws IOException, Failure {
    send(request('c', Integer.BYTES).putInt(reader));
    result();
  }

  public ProcessHandle process() {
    return process.toHandle();
  }

  private static ByteBuffer request(char what, int bytes) {
    return ByteBuffer.allocate(1 + bytes).order(ByteOrder.nativeOrder()).put((byte) what);
  }

  private void send(ByteBuffer request) throws IOException {
    byte[] bytes = new byte[request.capacity()];
    request.rewind().get(bytes);
    out.write(bytes);
    out.flush();
  }

  private ByteBuffer receive(int bytes) throws IOException {
    byte[] received = in.readNBytes(bytes);
    if (received.length < bytes) {
      throw new IOException("reader_tool has ended: " + process);
    }
    return ByteBuffer.wrap(received).order(ByteOrder.nativeOrder());
  }

  private ByteBuffer result() throws IOException, Failure {
    ByteBuffer header = receive(HEADER_BYTES);
    int code = header.getInt();
    ByteBuffer content = receive(Math.toIntExact(header.getLong()));
    if (code != 0) {
      throw new Failure(code, StandardCharsets.UTF_8.decode(content).toString());
    }
    return content;
  }

  /** Ends the process. */
  @Override
  public void close() throws IOException {
    try (in) {
      out.close();
      if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
        throw new IOException("reader_tool does not end: " + process);
      }
      if (process.exitValue() != 0) {
        throw new IOException("reader_tool has failed: " + process);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      process.destroyForcibly();
    }
  }
}
