package org.ddstore.collective;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * A rank's end of a group whose ranks are processes of one host, before it knows the others. Give
 * {@link #address()} to all ranks by any means, then {@link #connect}. Who creates it, closes it;
 * {@code connect} hands the file on to the communicator. For one thread.
 */
public final class SharedMemoryEndpoint implements AutoCloseable {
  private static final int MAX_SIZE = 4096;

  private final LaneFile file;
  private final int rank;
  private final int size;
  private boolean open = true;

  private SharedMemoryEndpoint(LaneFile file, int rank, int size) {
    this.file = file;
    this.rank = rank;
    this.size = size;
  }

  /**
   * Makes the file of a rank: 0.5 MiB, mode 0600, space reserved. Local.
   *
   * @param directory exists, better in /dev/shm; the same file system namespace for all ranks
   * @param rank of [0, size)
   * @param size ranks of the group, of [1, 4096]
   * @throws IOException if the file cannot be made, also for want of space
   */
  public static SharedMemoryEndpoint create(Path directory, int rank, int size) throws IOException {
    if (size < 1 || size > MAX_SIZE) {
      throw new IllegalArgumentException("size " + size + " outside [1, " + MAX_SIZE + "]");
    }
    if (rank < 0 || rank >= size) {
      throw new IllegalArgumentException("rank " + rank + " outside [0, " + size + ")");
    }
    return new SharedMemoryEndpoint(LaneFile.create(directory, rank, size), rank, size);
  }

  /** What the other ranks need to know: 25 bytes and the path. Not secret, the file mode guards. */
  public byte[] address() {
    checkOpen();
    return file.address().toBytes();
  }

  /**
   * The file that an address names. Local.
   *
   * @param address of any rank
   * @throws IllegalArgumentException if it is not one
   */
  public static Path file(byte[] address) {
    return Path.of(LaneAddress.parse(address).path());
  }

  /**
   * The address with the path of its file relative to a directory that the receiver knows: shorter.
   *
   * @param directory above the file
   */
  public static byte[] relativize(byte[] address, Path directory) {
    LaneAddress parsed = LaneAddress.parse(address);
    return parsed.withPath(directory.toAbsolutePath().relativize(Path.of(parsed.path()))).toBytes();
  }

  /** The inverse of {@link #relativize}. */
  public static byte[] resolve(byte[] address, Path directory) {
    LaneAddress parsed = LaneAddress.parse(address);
    return parsed.withPath(directory.toAbsolutePath().resolve(parsed.path())).toBytes();
  }

  /** As {@link #connect(List, Duration, LivenessProbe)}, taking every rank for alive. */
  public Communicator connect(List<byte[]> addresses, Duration timeout) throws IOException {
    return connect(addresses, timeout, LivenessProbe.ALWAYS_ALIVE);
  }

  /**
   * Maps the files of all ranks and waits until all have. Collective. Then the names are removed: a
   * process that dies leaves nothing behind. Whatever the outcome, this endpoint is closed.
   *
   * @param addresses of all ranks, in rank order, this one's included
   * @param timeout how long this and each later collective may wait, of (0, 365 days]
   * @param probe asked about ranks that do not come
   * @throws IOException if a file cannot be opened (so the rank is not on this host, or has ended)
   *     or is not the one that the address means
   */
  public Communicator connect(List<byte[]> addresses, Duration timeout, LivenessProbe probe)
      throws IOException {
    checkOpen();
    open = false;
    SharedMemoryCommunicator communicator = null;
    List<LaneFile> peers = new ArrayList<>();
    try {
      Communicator.checkTimeout(timeout);
      Objects.requireNonNull(probe, "probe");
      for (LaneAddress address : parse(addresses)) {
        peers.add(address.rank() == rank ? file : LaneFile.attach(address));
      }
      communicator = new SharedMemoryCommunicator(peers, rank, timeout, probe);
      communicator.connect();
      file.delete();
      return communicator;
    } catch (IOException | RuntimeException | Error e) {
      undo(communicator, peers, e);
      throw e;
    }
  }

  /** Removes and unmaps the file unless {@link #connect} was called. Idempotent. */
  @Override
  public void close() throws IOException {
    if (open) {
      open = false;
      file.lane().leave();
      file.close();
      file.delete();
    }
  }

  @Override
  public String toString() {
    return "shared-memory endpoint rank " + rank + "/" + size;
  }

  private List<LaneAddress> parse(List<byte[]> addresses) {
    if (addresses.size() != size) {
      throw new IllegalArgumentException(
          addresses.size() + " addresses for " + size + " ranks in " + this);
    }
    List<LaneAddress> parsed = new ArrayList<>(size);
    for (int r = 0; r < size; r++) {
      LaneAddress address = LaneAddress.parse(addresses.get(r));
      if (address.rank() != r || address.size() != size) {
        throw new IllegalArgumentException(
            "address %d of %d is that of rank %d/%d: expected all ranks in rank order"
                .formatted(r, size, address.rank(), address.size()));
      }
      parsed.add(address);
    }
    if (!parsed.get(rank).equals(file.address())) {
      throw new IllegalArgumentException("address " + rank + " is not that of " + this);
    }
    return parsed;
  }

  private void undo(SharedMemoryCommunicator communicator, List<LaneFile> peers, Throwable cause) {
    try {
      file.delete();
    } catch (IOException e) {
      cause.addSuppressed(e);
    }
    if (communicator != null) {
      communicator.abort(cause);
      communicator.close();
      return;
    }
    file.lane().fail(Diagnosis.gaveUp(rank, cause));
    peers.remove(file);
    peers.forEach(LaneFile::close);
    file.close();
  }

  private void checkOpen() {
    if (!open) {
      throw new IllegalStateException("closed: " + this);
    }
  }
}
