// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend.files;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.ddstore.memory.BootId;
import org.ddstore.memory.Nonce;
import org.ddstore.memory.Segment;
import org.ddstore.spark.backend.StoreNetwork;
import org.ddstore.transport.RemoteReader;
import org.ddstore.transport.Transport;
import org.ddstore.types.ProcessAddress;

/**
 * The segments of one rank, each with a link that is named by its nonce, so that the file stays
 * until it is withdrawn. A reader that finds the link maps the segment.
 */
final class FilesTransport implements Transport, AutoCloseable {
  static final Path DIRECTORY = Path.of("/dev/shm");
  private static final String PREFIX = "files-transport-";

  /** End of the name of the file with the offsets of ragged records, beside that of the records. */
  private static final String OFFSETS = ".offsets";

  private final StoreNetwork network;
  private final Map<Nonce, Segment> exported = new ConcurrentHashMap<>();

  FilesTransport(StoreNetwork network) {
    this.network = network;
  }

  @Override
  public String description() {
    return "files";
  }

  @Override
  public ProcessAddress local() {
    return network.local();
  }

  @Override
  public void export(Segment segment) {
    if (segment.path() == null) {
      throw new IllegalArgumentException("only segments in files can be mapped: " + segment);
    }
    if (!segment.retain()) {
      throw new IllegalStateException("closed: " + segment);
    }
    exported.put(segment.nonce(), segment);
    try {
      Path offsets = Path.of(segment.path() + OFFSETS);
      if (Files.exists(offsets)) {
        Files.createLink(link(segment.nonce(), OFFSETS), offsets);
      }
      Files.createLink(link(segment.nonce(), ""), Path.of(segment.path()));
    } catch (IOException e) {
      withdraw(segment);
      throw new UncheckedIOException(e);
    }
  }

  private static Path link(Nonce nonce, String suffix) {
    return DIRECTORY.resolve(PREFIX + nonce + suffix);
  }

  @Override
  public void withdraw(Segment segment) {
    if (exported.remove(segment.nonce()) == null) {
      return;
    }
    try {
      Files.deleteIfExists(link(segment.nonce(), ""));
      Files.deleteIfExists(link(segment.nonce(), OFFSETS));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      segment.release();
    }
  }

  /**
   * Maps an exported segment; the caller gets one reference.
   *
   * @throws java.nio.file.NoSuchFileException if the segment is not exported
   */
  static Segment map(Nonce nonce) throws IOException {
    return Segment.attach(nonce, BootId.ofThisHost(), link(nonce, "").toString());
  }

  @Override
  public RemoteReader newReader(Duration timeout) {
    return new FilesReader(timeout);
  }

  @Override
  public void close() {
    exported.values().forEach(this::withdraw);
  }
}
