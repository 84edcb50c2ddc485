// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.ddstore.memory.Nonce;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.memory.Segment;
import org.ddstore.transport.OneSidedTransport;
import org.ddstore.transport.PeerCalls;
import org.ddstore.transport.RemoteReader;
import org.ddstore.types.ProcessAddress;

/**
 * A transport whose readers are processes outside of Spark. Owners serve rows at their data ports,
 * or leave links to the files of segments, which readers map.
 */
final class OutsideRows implements OneSidedTransport {
  private static final String LINK = ".outside";
  private static final String OFFSETS = ".offsets";

  private final WireSession session;
  private final PeerCalls calls;
  private final Path program;
  private final int port;
  private final Path root;
  private final Map<Nonce, Segment> exported = new ConcurrentHashMap<>();
  private final Map<Nonce, ProcessDirectory> directories = new ConcurrentHashMap<>();

  /**
   * @param root directory of the stores' files
   * @param byPort whether rows are read over the data port; else by memory
   */
  OutsideRows(WireSession session, PeerCalls calls, Path program, Path root, boolean byPort) {
    this.root = root;
    this.session = session;
    this.calls = calls;
    this.program = program;
    this.port = byPort ? session.openToOutsiders(Set.of()).port() : 0;
    if (byPort && port == 0) {
      throw new IllegalStateException("no data port");
    }
    calls.serve(this::answer);
  }

  private ByteBuffer answer(ByteBuffer question) {
    Segment segment = exported.get(Nonce.read(question, question.position()));
    return segment == null
        ? ByteBuffer.allocate(0)
        : OutsideSegment.toBytes(segment, port == 0 ? segment.path() + LINK : "", port);
  }

  @Override
  public String description() {
    return "outside";
  }

  @Override
  public String detail() {
    return port == 0 ? "by memory" : "by port";
  }

  @Override
  public ProcessAddress local() {
    return session.local();
  }

  @Override
  public void export(Segment segment) {
    session.export(segment);
    exported.put(segment.nonce(), segment);
    if (port != 0) {
      return;
    }
    directories.put(segment.nonce(), ProcessDirectory.acquire(root)); // stays with its links
    try {
      Path offsets = Path.of(segment.path() + OFFSETS);
      if (Files.exists(offsets)) {
        Files.createLink(Path.of(segment.path() + LINK + OFFSETS), offsets);
      }
      Files.createLink(Path.of(segment.path() + LINK), Path.of(segment.path()));
    } catch (IOException e) {
      withdraw(segment);
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void withdraw(Segment segment) {
    if (exported.remove(segment.nonce()) == null) {
      return;
    }
    try {
      if (port == 0) {
        Files.deleteIfExists(Path.of(segment.path() + LINK));
        Files.deleteIfExists(Path.of(segment.path() + LINK + OFFSETS));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      session.withdraw(segment);
      if (port == 0) {
        directories.remove(segment.nonce()).release();
      }
    }
  }

  @Override
  public RemoteReader newReader(Duration timeout) {
    return new OutsideReader(calls, session.token(), program, timeout);
  }

  @Override
  public void close() {
    exported.values().forEach(this::withdraw);
  }
}
