// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.regex.Pattern;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.InputFile;

/**
 * The search for files of an array that look like chunks but are not under a key that the metadata
 * name: readers do not find them and return the fill value. It lists the folder of the array, and
 * folders in it until a chunk is found, and looks at a bounded number of files.
 */
final class MisplacedChunks {
  private static final int MAX_ENTRIES = 4096;
  private static final int MAX_FOLDERS = 32;

  /** Keys of all layouts have digits, but the one of an array without axes in version 3. */
  private static final Pattern CHUNK = Pattern.compile("c|.*\\d.*");

  private final InputFile array;
  private final ChunkGrid grid;
  private final Deque<String> folders = new ArrayDeque<>(List.of(""));
  private final List<String> misplaced = new ArrayList<>();
  private boolean hasChunk;
  private int entries;

  private MisplacedChunks(InputFile array, ChunkGrid grid) {
    this.array = array;
    this.grid = grid;
  }

  /**
   * Returns the paths of misplaced files, relative to the array.
   *
   * @param grid grid of the files
   * @throws FormatException if there are some, and no chunk is under its key
   */
  static List<String> of(InputFile array, ChunkGrid grid) throws IOException {
    if (grid.isEmpty()) {
      return List.of();
    }
    MisplacedChunks search = new MisplacedChunks(array, grid);
    search.list();
    if (!search.misplaced.isEmpty() && !search.hasChunk) {
      search.requireFirstChunk();
    }
    return List.copyOf(search.misplaced);
  }

  private void list() throws IOException {
    for (int listed = 0;
        listed < MAX_FOLDERS && entries < MAX_ENTRIES && !hasChunk && !folders.isEmpty();
        listed++) {
      String folder = folders.pop();
      InputFile file;
      try {
        file = folder.isEmpty() ? array : array.resolve(folder);
      } catch (FileNotFoundException e) { // removed meanwhile
        continue;
      }
      for (String name : file.names(MAX_ENTRIES - entries)) {
        entries++;
        add(folder + name);
      }
    }
  }

  /** Adds a file, or a folder whose path ends with a slash. */
  private void add(String path) {
    boolean isFolder = path.endsWith("/");
    String name = path.substring(path.lastIndexOf('/', path.length() - 2) + 1);
    if (!CHUNK.matcher(isFolder ? name.substring(0, name.length() - 1) : name).matches()
        || name.startsWith(".")) {
      return;
    }
    if (!isFolder && grid.isKey(path)) {
      hasChunk = true;
    } else if (!isFolder) {
      misplaced.add(path);
    } else if (path.chars().filter(c -> c == '/').count() <= grid.dimensions() + 1) {
      folders.push(path);
    }
  }

  private void requireFirstChunk() throws IOException {
    String first = grid.key(new long[grid.dimensions()]);
    if (!array.has(first)) {
      throw new FormatException(
          array.path(),
          "no chunk has a key of the metadata, such as %s, but there are %s%,d files such as %s: correct the keys in the metadata (dimension_separator, chunk_key_encoding), or remove the files if all elements are to have the fill value"
              .formatted(
                  first,
                  entries < MAX_ENTRIES ? "" : "more than ",
                  misplaced.size(),
                  misplaced.get(0)));
    }
  }
}
