// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.InputFile;

/** The encoded chunks of an array. Not thread-safe. */
interface ChunkSource extends Closeable {
  /** Reads a chunk into a buffer on the heap; returns null if the chunk is missing. */
  ByteBuffer read(long... coordinates) throws IOException;

  /** Returns the size of an encoded chunk in bytes; 0 if the chunk is missing. */
  long length(long... coordinates) throws IOException;

  /** Returns the path of the file of a chunk, for messages. */
  String path(long... coordinates);

  @Override
  default void close() throws IOException {}

  /** Chunks that are files. */
  record Files(InputFile folder, ChunkGrid grid, ReaderMemory memory) implements ChunkSource {
    @Override
    public ByteBuffer read(long... coordinates) throws IOException {
      Optional<InputFile> found = folder.find(grid.key(coordinates));
      if (found.isEmpty()) {
        return null;
      }
      InputFile file = found.get();
      if (file.isFolder()) {
        throw new FormatException(file.path(), "a folder in place of a chunk");
      }
      memory.require(file.path(), "the chunk", file.length());
      return file.readAll();
    }

    @Override
    public long length(long... coordinates) throws IOException {
      return folder.find(grid.key(coordinates)).map(InputFile::length).orElse(0L);
    }

    @Override
    public String path(long... coordinates) {
      return folder.path() + "/" + grid.key(coordinates);
    }
  }
}
