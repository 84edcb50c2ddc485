// SPDX-License-Identifier: Apache-2.0
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
 * An endpoint of one rank of a group, before the ranks are connected. The ranks may be threads of
 * one JVM, processes of one host and processes of several hosts, in any combination. Pass {@link
 * #address()} to all ranks by any means, then call {@link #connect}. The creator closes it; {@code
 * connect} transfers its resources to the communicator. For one thread.
 */
@Internal
public final class GroupEndpoint implements AutoCloseable {
  /**
   * The maximum number of ranks of a group: the largest power of two whose start takes at most a
   * minute by the model of {@code bench scale}, with 10 Gbit/s and 8 ranks per executor.
   */
  public static final int MAX_SIZE = 16_384;

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
   * Creates the lane of a rank: 0.5 MiB, in a file of mode 0600 with its space reserved if the
   * exchange has a directory. Local.
   *
   * @param exchange must stay open as long as the endpoint and its communicator
   * @param rank in [0, size)
   * @param size number of ranks of the group, in [1, 16384]
   * @return the endpoint of the rank; the caller closes it
   * @throws IOException if the file cannot be created, also for lack of space
   * @throws IllegalArgumentException also if the name of this host is too long for an address
   */
  public static GroupEndpoint create(LaneExchange exchange, int rank, int size) throws IOException {
    checkSize(size);
    if (rank < 0 || rank >= size) {
      throw new IllegalArgumentException("rank " + rank + " outside [0, " + size + ")");
    }
    LaneAddress address = exchange.newAddress(rank, size);
    address.toBytes(); // rejects an address that is too long before a file is created
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

  /**
   * {@return an address as {@link #address()} of a new endpoint returns it, of a lane that does not
   * exist} Local; for measurements of more ranks than a machine can run.
   *
   * @param exchange exchange of the process of the rank
   * @param rank rank of the address
   * @param size number of ranks of the group; may exceed {@link #MAX_SIZE}
   */
  public static byte[] exampleAddress(LaneExchange exchange, int rank, int size) {
    return exchange.newAddress(rank, size).toBytes();
  }

  static void checkSize(int size) {
    if (size < 1 || size > MAX_SIZE) {
      throw new IllegalArgumentException("size " + size + " outside [1, " + MAX_SIZE + "]");
    }
  }

  /**
   * {@return the information that the other ranks need: at most 188 bytes, independent of the
   * length of paths on this machine} A process that has it can read this rank's lane, subject to
   * file mode and messenger.
   */
  public byte[] address() {
    checkOpen();
    return address.toBytes();
  }

  /**
   * {@return the process of a rank, if it sends messages} Local.
   *
   * @param address address of any rank
   * @throws IllegalArgumentException if the bytes are not an address
   */
  public static Optional<ProcessAddress> process(byte[] address) {
    return Optional.ofNullable(LaneAddress.parse(address).process());
  }

  /**
   * Reaches the lanes of all ranks and waits until all ranks have. Collective. Then the names of
   * the files are removed, so that a process that dies leaves nothing behind. This endpoint is
   * closed in any case.
   *
   * @param addresses addresses of all ranks, in rank order, including this one's
   * @param timeout longest wait of this and each later collective, in (0, 365 days]
   * @return the communicator of this rank
   * @throws IOException if a rank can be reached neither by its file (it is on another host or has
   *     ended) nor by messages
   */
  public Communicator connect(List<byte[]> addresses, Duration timeout) throws IOException {
    Communicator communicator = attach(addresses, timeout, new SplitGroups());
    try {
      communicator.exchange("connect()", () -> new byte[0]);
      deleteName();
      return communicator;
    } catch (IOException | RuntimeException | Error e) {
      abandon(communicator, e);
      throw e;
    }
  }

  /** Does what {@link #connect} does, without waiting; {@link #deleteName()} must follow. */
  Communicator attach(List<byte[]> addresses, Duration timeout, SplitGroups splitGroups)
      throws IOException {
    return attach(addresses, timeout, splitGroups, IntStream.range(0, address.size()).toArray());
  }

  /**
   * Attaches as above, for a group that was split from another one.
   *
   * @param origins for each rank, its number in the root group that all groups were split from
   */
  Communicator attach(
      List<byte[]> addresses, Duration timeout, SplitGroups splitGroups, int... origins)
      throws IOException {
    checkOpen();
    GroupLanes lanes = new GroupLanes(exchange, lane, memory, address);
    open = false;
    try {
      Communicator.checkTimeout(timeout);
      lanes.attach(parse(addresses));
      return new Communicator(lanes, timeout, splitGroups, origins);
    } catch (IOException | RuntimeException | Error e) {
      lane.fail(Diagnosis.aborted(address.rank(), e));
      lanes.close();
      deleteNameAfter(e);
      throw e;
    }
  }

  OwnLane lane() {
    return lane;
  }

  /** Deletes the name of the lane's file; called once all ranks have attached. */
  void deleteName() throws IOException {
    if (fileOrNull != null) {
      fileOrNull.delete();
    }
  }

  /** Undoes {@link #attach}, and tells the other ranks. */
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
