package org.ddstore.collective;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.ddstore.types.Internal;
import org.ddstore.types.ProcessAddress;

/**
 * A rank's end of a group, before it knows the others. The ranks may be threads of one JVM,
 * processes of one host and of several hosts, in any mixture. Give {@link #address()} to all ranks
 * by any means, then {@link #connect}. Who creates it, closes it; {@code connect} hands what it
 * holds on to the communicator. For one thread.
 */
@Internal
public final class GroupEndpoint implements AutoCloseable {
  private static final int MAX_SIZE = 4096;

  private final LaneExchange exchange;
  private final LaneAddress address;
  private final LaneFile fileOrNull;
  private final HeldLane memory;
  private final OwnLane lane;
  private boolean open = true;

  private GroupEndpoint(LaneExchange exchange, LaneAddress address, LaneFile fileOrNull) {
    this.exchange = exchange;
    this.address = address;
    this.fileOrNull = fileOrNull;
    LaneMemory words = fileOrNull == null ? LaneMemory.allocate() : fileOrNull.lane();
    this.memory =
        new HeldLane(words, () -> true, fileOrNull == null ? () -> {} : fileOrNull::close);
    this.lane = exchange.open(address.nonce(), words, memory);
  }

  /**
   * Makes the lane of a rank: 0.5 MiB, in a file of mode 0600 with its space reserved if the
   * exchange has a directory. Local.
   *
   * @param exchange must stay open as long as the endpoint and its communicator
   * @param rank of [0, size)
   * @param size ranks of the group, of [1, 4096]
   * @throws IOException if the file cannot be made, also for want of space
   * @throws IllegalArgumentException also if the name of this host is too long for an address
   */
  public static GroupEndpoint create(LaneExchange exchange, int rank, int size) throws IOException {
    checkSize(size);
    if (rank < 0 || rank >= size) {
      throw new IllegalArgumentException("rank " + rank + " outside [0, " + size + ")");
    }
    LaneAddress address = exchange.newAddress(rank, size);
    address.toBytes(); // what is too long is refused before there is a file
    LaneFile fileOrNull = exchange.createFileOrNull(address);
    try {
      return new GroupEndpoint(exchange, address, fileOrNull);
    } catch (RuntimeException | Error e) {
      if (fileOrNull != null) {
        fileOrNull.close();
        fileOrNull.delete();
      }
      throw e;
    }
  }

  static void checkSize(int size) {
    if (size < 1 || size > MAX_SIZE) {
      throw new IllegalArgumentException("size " + size + " outside [1, " + MAX_SIZE + "]");
    }
  }

  /**
   * What the other ranks need to know: at most 184 bytes, which no path of this machine makes
   * longer. Tells who knows it how to read this rank's lane, as far as file mode and messenger let
   * him.
   */
  public byte[] address() {
    checkOpen();
    return address.toBytes();
  }

  /**
   * The process of a rank, if it sends messages. Local.
   *
   * @param address of any rank
   * @throws IllegalArgumentException if it is not one
   */
  public static Optional<ProcessAddress> process(byte[] address) {
    return Optional.ofNullable(LaneAddress.parse(address).process());
  }

  /**
   * Reaches the lanes of all ranks and waits until all have. Collective. Then the names of the
   * files are removed: a process that dies leaves nothing behind. Whatever the outcome, this
   * endpoint is closed.
   *
   * @param addresses of all ranks, in rank order, this one's included
   * @param timeout how long this and each later collective may wait, of (0, 365 days]
   * @throws IOException if a rank can be reached neither by its file (so it is not on this host, or
   *     has ended) nor by messages
   */
  public Communicator connect(List<byte[]> addresses, Duration timeout) throws IOException {
    Communicator communicator = attach(addresses, timeout, new Family());
    try {
      communicator.exchange("connect()", () -> new byte[0]);
      deleteName();
      return communicator;
    } catch (IOException | RuntimeException | Error e) {
      abandon(communicator, e);
      throw e;
    }
  }

  /** The part of {@link #connect} that does not wait; {@link #deleteName()} is left to do. */
  Communicator attach(List<byte[]> addresses, Duration timeout, Family family) throws IOException {
    return attach(addresses, timeout, family, IntStream.range(0, address.size()).toArray());
  }

  /**
   * As above, for a group that was split from another one.
   *
   * @param origins of each rank, its number in the group that all of the family were split from
   */
  Communicator attach(List<byte[]> addresses, Duration timeout, Family family, int... origins)
      throws IOException {
    checkOpen();
    GroupLanes lanes = new GroupLanes(exchange, lane, memory, address);
    open = false;
    try {
      Communicator.checkTimeout(timeout);
      lanes.attach(parse(addresses));
      return new Communicator(lanes, timeout, family, origins);
    } catch (IOException | RuntimeException | Error e) {
      lane.fail(Diagnosis.gaveUp(address.rank(), e));
      lanes.close();
      deleteNameAfter(e);
      throw e;
    }
  }

  /** What this rank writes to. */
  OwnLane lane() {
    return lane;
  }

  /** Called once all ranks have attached. */
  void deleteName() throws IOException {
    if (fileOrNull != null) {
      fileOrNull.delete();
    }
  }

  /** Undoes {@link #attach}, and tells the others. */
  void abandon(Communicator communicator, Throwable cause) {
    communicator.abort(cause);
    communicator.close();
    deleteNameAfter(cause);
  }

  private void deleteNameAfter(Throwable cause) {
    try {
      deleteName();
    } catch (IOException e) {
      cause.addSuppressed(e);
    }
  }

  /** Removes and frees the lane unless {@link #connect} was called. Idempotent. */
  @Override
  public void close() throws IOException {
    if (open) {
      open = false;
      lane.leave();
      exchange.retire(lane);
      exchange.release(address.nonce(), memory);
      deleteName();
    }
  }

  @Override
  public String toString() {
    return exchange.kind() + " endpoint rank " + address.rank() + "/" + address.size();
  }

  private List<LaneAddress> parse(List<byte[]> addresses) {
    int size = address.size();
    if (addresses.size() != size) {
      throw new IllegalArgumentException(
          addresses.size() + " addresses for " + size + " ranks in " + this);
    }
    List<LaneAddress> parsed = new ArrayList<>(size);
    for (int r = 0; r < size; r++) {
      LaneAddress other = LaneAddress.parse(addresses.get(r));
      if (other.rank() != r || other.size() != size) {
        throw new IllegalArgumentException(
            "address %d of %d is that of rank %d/%d: expected all ranks in rank order"
                .formatted(r, size, other.rank(), other.size()));
      }
      parsed.add(other);
    }
    if (!parsed.get(address.rank()).equals(address)) {
      throw new IllegalArgumentException("address " + address.rank() + " is not that of " + this);
    }
    return parsed;
  }

  private void checkOpen() {
    if (!open) {
      throw new IllegalStateException("closed: " + this);
    }
  }
}
