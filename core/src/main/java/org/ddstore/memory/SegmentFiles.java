// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.ddstore.types.DDStoreException;

/** The files of one segment and their mappings; those of the owner delete the files on close. */
final class SegmentFiles implements SegmentMemory {
  private static final Set<String> IN_MEMORY = Set.of("tmpfs", "ramfs", "hugetlbfs");

  private final Path data;
  private final Path offsets;
  private final ProcessDirectory directory;
  private final List<MappedRegion> regions = new ArrayList<>();
  private final AtomicBoolean linked;
  private final AtomicBoolean closed = new AtomicBoolean();
  private volatile boolean paged = true;

  private SegmentFiles(Path data, ProcessDirectory directory) {
    this.data = data;
    this.offsets = Path.of(data + ".offsets");
    this.directory = directory;
    this.linked = new AtomicBoolean(directory != null);
  }

  static SegmentFiles create(Path root, String name) {
    ProcessDirectory directory = ProcessDirectory.acquire(root);
    return new SegmentFiles(directory.path().resolve(name), directory);
  }

  FileChannel createData() throws IOException {
    return create(data);
  }

  FileChannel createOffsets() throws IOException {
    return create(offsets);
  }

  FileSpace spaceOfData(FileChannel channel) {
    return new FileSpace(data, channel);
  }

  FileSpace spaceOfOffsets(FileChannel channel) {
    return new FileSpace(offsets, channel);
  }

  private static FileChannel create(Path path) throws IOException {
    return FileChannel.open(
        path,
        EnumSet.of(
            StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
  }

  /** Maps another process's segment read-only; the message of an exception says why it fails. */
  static Segment attach(Path data, Nonce expected) throws IOException {
    SegmentFiles files = new SegmentFiles(data, null);
    try (FileChannel dataChannel = openToRead(data)) {
      SegmentHeader header;
      try {
        int bytes = (int) Math.min(dataChannel.size(), 1 << 20);
        header = SegmentHeader.decode(OffsetsFile.read(dataChannel, 0, bytes));
      } catch (IllegalArgumentException e) {
        throw new IOException(e.getMessage(), e);
      }
      if (!header.nonce().equals(expected)) {
        throw new IOException(
            "nonce %s, expected %s: the file belongs to another host or run"
                .formatted(header.nonce(), expected));
      }
      if (!header.host().isThisHost()) {
        throw new IOException(
            "boot id %s, this host has %s: the file was made on another host, and only that host may map it"
                .formatted(header.host(), BootId.ofThisHost()));
      }
      if (header.schema().isFixed()) {
        return files.open(header, FileChannel.MapMode.READ_ONLY, dataChannel, null);
      }
      try (FileChannel offsetChannel = openToRead(files.offsets)) {
        return files.open(header, FileChannel.MapMode.READ_ONLY, dataChannel, offsetChannel);
      }
    }
  }

  private static FileChannel openToRead(Path path) throws IOException {
    return FileChannel.open(path, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
  }

  Segment open(
      SegmentHeader header,
      FileChannel.MapMode mode,
      FileChannel dataChannel,
      FileChannel offsetChannel)
      throws IOException {
    try {
      if (header.dataBytes() > dataChannel.size() - header.headerBytes()) {
        throw new IOException(
            "the file has %,d bytes; its header says %,d"
                .formatted(dataChannel.size(), header.headerBytes() + header.dataBytes()));
      }
      paged = !isInMemory();
      ByteBuffer headerPage = map(dataChannel, mode, 0, SegmentHeader.PAGE_BYTES);
      Segment.RaggedOffsets raggedOffsets = null;
      long[] starts;
      if (header.schema().isFixed()) {
        starts = fixedChunkStarts(header);
      } else {
        raggedOffsets = OffsetsFile.map(header, offsetChannel, regions);
        starts = raggedOffsets.chunkStarts();
      }
      ByteBuffer[] chunks = new ByteBuffer[starts.length - 1];
      for (int i = 0; i < chunks.length; i++) {
        chunks[i] =
            map(dataChannel, mode, header.headerBytes() + starts[i], starts[i + 1] - starts[i]);
      }
      return new Segment(header, headerPage, chunks, raggedOffsets, this);
    } catch (IOException | RuntimeException | Error e) {
      unmap();
      throw e;
    }
  }

  /** Returns whether the files are in memory; false if unknown. */
  private boolean isInMemory() {
    try {
      return IN_MEMORY.contains(Files.getFileStore(data).type());
    } catch (IOException e) {
      return false;
    }
  }

  private static long[] fixedChunkStarts(SegmentHeader header) throws IOException {
    long chunkBytes = (long) header.schema().fixedBytes() << header.rowShift();
    int chunks =
        ChunkLayout.checkChunks(
            header.dataBytes() / chunkBytes + (header.dataBytes() % chunkBytes == 0 ? 0 : 1));
    long[] starts = new long[chunks + 1];
    for (int i = 1; i <= chunks; i++) {
      starts[i] = Math.min(i * chunkBytes, header.dataBytes());
    }
    return starts;
  }

  private ByteBuffer map(FileChannel channel, FileChannel.MapMode mode, long position, long bytes)
      throws IOException {
    MappedRegion region = MappedRegion.map(channel, mode, position, bytes);
    regions.add(region);
    return region.buffer();
  }

  @Override
  public String location() {
    return data.toString();
  }

  @Override
  public String path() {
    return data.toString();
  }

  @Override
  public boolean isOwned() {
    return directory != null;
  }

  @Override
  public boolean isPaged() {
    return paged;
  }

  @Override
  public void unlink() {
    if (linked.compareAndSet(true, false)) {
      try {
        delete(data);
        delete(offsets);
      } finally {
        directory.release();
      }
    }
  }

  private static void delete(Path path) {
    try {
      Files.deleteIfExists(path);
    } catch (IOException e) {
      throw new DDStoreException("cannot delete " + path, e);
    }
  }

  private void unmap() {
    regions.forEach(MappedRegion::close);
    regions.clear();
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      try {
        unmap();
      } finally {
        unlink();
      }
    }
  }
}
