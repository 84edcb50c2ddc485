// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import java.io.Closeable;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.List;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.InputFile;
import org.ddstore.formats.source.CloseAll;

/** The arrays of a file, opened when they are read first. Not thread-safe. */
final class OpenArrays implements Closeable {
  private final InputFile file;
  private final List<ZarrFile.Part> parts;
  private final ZarrArray[] arrays;
  private final ReaderMemory memory = new ReaderMemory();

  OpenArrays(InputFile file, List<ZarrFile.Part> parts) {
    this.file = file;
    this.parts = parts;
    this.arrays = new ZarrArray[parts.size()];
  }

  ReaderMemory memory() {
    return memory;
  }

  /** Returns an array, whose metadata must be those of the plan. */
  ZarrArray get(int ordinal) throws IOException {
    if (arrays[ordinal] == null) {
      arrays[ordinal] = open(parts.get(ordinal));
    }
    return arrays[ordinal];
  }

  private ZarrArray open(ZarrFile.Part part) throws IOException {
    InputFile folder = part.path().isEmpty() ? file : file.resolve(part.path());
    if (!ZarrGroup.isNode(folder)) {
      throw new FileNotFoundException(folder.path());
    }
    ZarrArray array =
        ZarrArray.open(folder, memory).cacheBytes(ZarrArray.CACHE_BYTES / arrays.length);
    if (!array.json().equals(part.json())) {
      throw new FormatException(
          folder.path(),
          "the metadata have changed since they were listed: read it when nothing writes it");
    }
    return array;
  }

  @Override
  public void close() throws IOException {
    CloseAll.of(arrays);
  }
}
