// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.ddstore.memory.BootId;
import org.ddstore.memory.FileSpace;
import org.ddstore.memory.MappedRegion;
import org.ddstore.memory.Nonce;

/**
 * A {@link LaneMemory} in a mapped file. Its identity, little-endian:
 *
 * <pre>
 * 0  int64 magic "DDSLANE2" | 8  int32 rank | 12  int32 size | 16  int32 bytes of a slot
 * 24 int64 nonce, high      | 32 int64 nonce, low | 40 int64 boot id of the host
 * </pre>
 */
final class LaneFile implements AutoCloseable {
  private static final long MAGIC = 0x32454e414c534444L;
  private static final int RANK = 8;
  private static final int SIZE = 12;
  private static final int SLOT_BYTES = 16;
  private static final int NONCE = 24;
  private static final int HOST = 40;
  private static final int NAME_DIGITS = 16;

  private final Path path;
  private final LaneAddress address;
  private final MappedRegion region;
  private final ByteBuffer memory;
  private final LaneMemory lane;

  private LaneFile(Path path, LaneAddress address, MappedRegion region) {
    this.path = path;
    this.address = address;
    this.region = region;
    this.memory = region.buffer();
    this.lane = new LaneMemory(memory);
  }

  private static Path path(Path directory, LaneAddress address) {
    String nonce = address.nonce().toString().substring(0, NAME_DIGITS);
    return directory.resolve("collective-%d-%s".formatted(address.rank(), nonce));
  }

  /**
   * Creates the file of a rank, with mode 0600 and all its space reserved, and maps it.
   *
   * @throws IOException also if there is no space left
   */
  static LaneFile create(Path directory, LaneAddress address) throws IOException {
    Path path = path(directory, address);
    Set<StandardOpenOption> options =
        Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
    try (FileChannel channel =
        FileChannel.open(
            path,
            options,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
      try {
        reserve(channel, path);
        LaneFile file =
            new LaneFile(
                path, address, MappedRegion.map(channel, MapMode.READ_WRITE, 0, LaneMemory.BYTES));
        file.writeIdentity();
        return file;
      } catch (IOException | RuntimeException | Error e) {
        Files.deleteIfExists(path);
        throw e;
      }
    }
  }

  /**
   * Maps the file of another rank for reading.
   *
   * @throws IOException if it cannot be opened, or is not the file that the address refers to
   */
  static LaneFile attach(Path directory, LaneAddress address) throws IOException {
    Path path = path(directory, address);
    try (FileChannel channel = open(path)) {
      if (channel.size() != LaneMemory.BYTES) {
        throw new IOException(
            "lane file %s has %,d bytes; the lane of rank %d has %,d"
                .formatted(path, channel.size(), address.rank(), LaneMemory.BYTES));
      }
      LaneFile file =
          new LaneFile(
              path, address, MappedRegion.map(channel, MapMode.READ_ONLY, 0, LaneMemory.BYTES));
      try {
        file.checkIdentity();
      } catch (IOException e) {
        file.close();
        throw e;
      }
      return file;
    }
  }

  private static FileChannel open(Path path) throws IOException {
    Set<? extends OpenOption> options = Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
    try {
      return FileChannel.open(path, options);
    } catch (FileSystemException e) {
      throw e; // the message names the file
    } catch (IOException e) {
      throw new FileSystemException(path.toString(), null, e.getMessage());
    }
  }

  Path path() {
    return path;
  }

  LaneMemory lane() {
    return lane;
  }

  /** Removes the name; the memory lives as long as it is mapped. */
  void delete() throws IOException {
    Files.deleteIfExists(path);
  }

  /** Unmaps the file; the lane must not be accessed afterwards. */
  @Override
  public void close() {
    region.close();
  }

  /** Reserves the space: a full file system is an exception here, but would kill the JVM later. */
  private static void reserve(FileChannel channel, Path path) throws IOException {
    try {
      FileSpace.reserveAll(path, channel, LaneMemory.BYTES);
    } catch (IOException e) {
      throw new IOException(
          "cannot reserve %,d bytes for %s: %s".formatted(LaneMemory.BYTES, path, e.getMessage()),
          e);
    }
  }

  private void writeIdentity() {
    memory.putInt(RANK, address.rank());
    memory.putInt(SIZE, address.size());
    memory.putInt(SLOT_BYTES, Lane.SLOT_BYTES);
    address.nonce().write(memory, NONCE);
    memory.putLong(HOST, address.host().bits());
    memory.putLong(0, MAGIC);
  }

  private void checkIdentity() throws IOException {
    check("magic", memory.getLong(0), MAGIC);
    check("slot size", memory.getInt(SLOT_BYTES), Lane.SLOT_BYTES);
    check("rank", memory.getInt(RANK), address.rank());
    check("group size", memory.getInt(SIZE), address.size());
    Nonce nonce = Nonce.read(memory, NONCE);
    check("nonce", nonce.high(), address.nonce().high());
    check("nonce", nonce.low(), address.nonce().low());
    check("boot id", memory.getLong(HOST), BootId.ofThisHost().bits());
  }

  private void check(String what, long found, long expected) throws IOException {
    if (found != expected) {
      throw new IOException(
          "lane file %s is not the lane of rank %d: its %s is %#x, expected %#x"
              .formatted(path, address.rank(), what, found, expected));
    }
  }
}
