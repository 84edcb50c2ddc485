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
 * The segments of one rank, each with a file that is named by its nonce and contains its path. A
 * reader that finds the file maps the segment.
 */
final class FilesTransport implements Transport, AutoCloseable {
  static final Path DIRECTORY = Path.of("/dev/shm/ddstore-files-transport");

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
    try {
      Files.createDirectories(DIRECTORY);
      Path unfinished = Files.writeString(file(segment.nonce(), ".new"), segment.path());
      Files.move(unfinished, file(segment.nonce(), ""));
    } catch (IOException e) {
      segment.release();
      throw new UncheckedIOException(e);
    }
    exported.put(segment.nonce(), segment);
  }

  private static Path file(Nonce nonce, String suffix) {
    return DIRECTORY.resolve(nonce + suffix);
  }

  @Override
  public void withdraw(Segment segment) {
    if (exported.remove(segment.nonce()) == null) {
      return;
    }
    try {
      Files.delete(file(segment.nonce(), ""));
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
    return Segment.attach(nonce, BootId.ofThisHost(), Files.readString(file(nonce, "")));
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
