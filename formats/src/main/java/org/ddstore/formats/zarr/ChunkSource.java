// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import java.io.Closeable;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.ddstore.formats.InputFile;

/** The encoded chunks of an array. Not thread-safe. */
interface ChunkSource extends Closeable {
  /**
   * Reads a chunk.
   *
   * @return a buffer on the heap; null if the chunk is missing
   */
  ByteBuffer read(long... coordinates) throws IOException;

  /** Returns the path of the file of a chunk, for messages. */
  String path(long... coordinates);

  @Override
  default void close() throws IOException {}

  /** Chunks that are files. */
  record Files(InputFile folder, ChunkGrid grid) implements ChunkSource {
    @Override
    public ByteBuffer read(long... coordinates) throws IOException {
      InputFile file;
      try {
        file = folder.resolve(grid.key(coordinates));
      } catch (FileNotFoundException e) {
        return null;
      }
      return file.readAll();
    }

    @Override
    public String path(long... coordinates) {
      return folder.path() + "/" + grid.key(coordinates);
    }
  }
}
