// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.ddstore.memory.BootId;
import org.ddstore.memory.Nonce;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.types.Internal;
import org.ddstore.types.ProcessAddress;

/**
 * The exchange by which the ranks of this JVM and of other processes read each other's lanes: a
 * rank of the same JVM by shared memory, a rank of the same host whose file can be opened here and
 * has the right nonce by a mapping of that file, any other by a {@link Mirror} that messages fill.
 * One exchange serves any number of groups: a lane is identified by its nonce, so groups need no
 * name. Thread-safe.
 *
 * <p>The opener closes it, after the last communicator.
 */
@Internal
public final class LaneExchange implements AutoCloseable {
  private final ProcessDirectory directory;
  private final LaneMessages messages;
  private final boolean sharing;
  private final Map<Nonce, HeldLane> held = new HashMap<>(); // guarded by itself

  private LaneExchange(ProcessDirectory directory, LaneMessages messages, boolean sharing) {
    this.directory = directory;
    this.messages = messages;
    this.sharing = sharing;
  }

  /** Opens an exchange for ranks that are threads of this JVM. */
  static LaneExchange inMemory() {
    return new LaneExchange(null, null, true);
  }

  /**
   * Opens an exchange for ranks of one host.
   *
   * @param directory directory for the lanes' files, preferably in /dev/shm; owned by the caller,
   *     who releases it after this exchange is closed
   * @return the exchange
   */
  public static LaneExchange overFiles(ProcessDirectory directory) {
    return new LaneExchange(Objects.requireNonNull(directory, "directory is null"), null, true);
  }

  /**
   * Opens an exchange for ranks of any hosts: by memory and files where possible, by messages
   * elsewhere.
   *
   * @param directory directory of this process, for the files of its lanes
   * @param messenger owned by the caller, who closes it after this exchange; its receiver is set
   *     here
   * @return the exchange
   */
  public static LaneExchange overFilesAndMessages(ProcessDirectory directory, Messenger messenger) {
    return new LaneExchange(
        Objects.requireNonNull(directory, "directory is null"), new LaneMessages(messenger), true);
  }

  /**
   * Opens an exchange without shortcuts: all data of other ranks travel in messages, also those of
   * this JVM.
   *
   * @param messenger owned by the caller, who closes it after this exchange; its receiver is set
   *     here
   * @return the exchange
   */
  public static LaneExchange overMessages(Messenger messenger) {
    return new LaneExchange(null, new LaneMessages(messenger), false);
  }

  String kind() {
    if (messages != null) {
      return "network";
    }
    return directory == null ? "local" : "shared-memory";
  }

  LaneAddress newAddress(int rank, int size) {
    String path =
        directory == null ? null : directory.root().relativize(directory.path()).toString();
    ProcessAddress process = messages == null ? null : messages.local();
    return new LaneAddress(rank, size, Nonce.random(), BootId.ofThisHost(), path, process);
  }

  /** Creates the file of a lane of this JVM; returns null if the lane needs no file. */
  LaneFile createFileOrNull(LaneAddress address) throws IOException {
    return directory == null ? null : LaneFile.create(directory.path(), address);
  }

  /** Makes a lane of this JVM known to other ranks. */
  OwnLane open(Nonce nonce, LaneMemory memory, HeldLane user) {
    OwnLane lane = new OwnLane(nonce, memory, messages == null ? null : messages.messenger());
    user.addUser();
    if (sharing) {
      synchronized (held) {
        held.put(nonce, user);
      }
    }
    if (messages != null) {
      messages.add(lane);
    }
    return lane;
  }

  /** Retires a lane, which is not written any more. */
  void retire(OwnLane lane) {
    if (messages != null) {
      messages.retire(lane);
    }
  }

  /** Returns the lane of another rank, for one more user. */
  HeldLane hold(LaneAddress address) throws IOException {
    synchronized (held) {
      HeldLane lane = held.get(address.nonce());
      if (lane == null) {
        lane = reach(address);
        held.put(address.nonce(), lane);
      }
      lane.addUser();
      return lane;
    }
  }

  /** Releases a lane that {@link #hold} returned or {@link #open} took. */
  void release(Nonce lane, HeldLane user) {
    synchronized (held) {
      if (user.removeUser()) {
        held.remove(lane, user);
      }
    }
  }

  private HeldLane reach(LaneAddress address) throws IOException {
    boolean byMessages = messages != null && address.process() != null;
    if (directory != null && address.directory() != null && address.host().isThisHost()) {
      try {
        return map(address);
      } catch (IOException e) {
        if (!byMessages || Thread.currentThread().isInterrupted()) {
          throw e;
        }
      }
    }
    if (!byMessages) {
      throw new IOException(
          "rank %d is unreachable: it has no file on this host (boot id %s here, %s there) and sends no messages to this process"
              .formatted(address.rank(), BootId.ofThisHost(), address.host()));
    }
    Mirror mirror = messages.mirror(address);
    return new HeldLane(mirror, mirror.owner()::lives, () -> messages.remove(mirror));
  }

  private HeldLane map(LaneAddress address) throws IOException {
    LaneFile file = LaneFile.attach(directory.root().resolve(address.directory()), address);
    Path lockFile = ProcessDirectory.lockFileBeside(file.path());
    return new HeldLane(file.lane(), () -> ProcessDirectory.isAlive(lockFile), file::close);
  }

  /** Stops answering and receiving messages. Idempotent. */
  @Override
  public void close() {
    if (messages != null) {
      messages.close();
    }
  }

  @Override
  public String toString() {
    return kind() + " lane exchange";
  }
}
