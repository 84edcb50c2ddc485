// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.spark.StoreHandle;
import org.ddstore.spark.StoreReader;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.RankLostException;
import org.ddstore.types.StoreGoneException;

/**
 * The files of handles that a command writes: one file for one store, else a folder with one file
 * for each. Checked before Spark starts.
 */
final class HandleFiles {
  private static final int MAX_NAME = 100;

  private final Path option;
  private final Map<String, Path> byName = new LinkedHashMap<>();
  private final AtomicBoolean isDeleted = new AtomicBoolean();
  private boolean madeFolder;

  /**
   * @param option value of {@code --handle}
   * @param names names of the stores
   */
  HandleFiles(Path option, List<String> names) {
    this.option = option.toAbsolutePath();
    for (String name : names) {
      byName.put(name, names.size() == 1 ? this.option : this.option.resolve(name + ".json"));
    }
  }

  /** Returns the legal name of a store after the last part of a path, without its suffix. */
  static String nameOf(String input) {
    String last = input.replaceAll("/+$", "").replaceAll(".*/", "");
    String name =
        last.replaceAll("(?<=.)\\.[^.]*$", "")
            .replaceAll("[^A-Za-z0-9_-]+", "_")
            .replaceAll("^_|_$", "");
    return name.isEmpty() ? "data" : name.substring(0, Math.min(name.length(), MAX_NAME));
  }

  Path of(String name) {
    return byName.get(name);
  }

  Collection<Path> all() {
    return byName.values();
  }

  /**
   * Makes the folder of several files, and checks that each file can be written and replaces
   * nothing but the handle of a store that has ended.
   *
   * @throws DDStoreException if not
   */
  void prepare() {
    Path folder = all().iterator().next().getParent();
    if (all().size() > 1 && !Files.exists(folder)) {
      try {
        Files.createDirectory(folder);
        madeFolder = true;
      } catch (IOException e) {
        throw refused(
            option, "cannot be created as the folder of %d handles: %s".formatted(all().size(), e));
      }
    }
    if (folder == null || !Files.isDirectory(folder)) {
      throw refused(
          option,
          all().size() > 1
              ? "is a file: several inputs need a folder, for one handle each"
              : "there is no folder %s".formatted(folder));
    }
    try {
      for (Path file : all()) {
        checkWritable(file);
        checkReplaceable(file);
      }
    } catch (RuntimeException e) {
      deleteFolder();
      throw e;
    }
  }

  private static void checkWritable(Path file) {
    if (Files.isDirectory(file)) {
      throw refused(file, "is a folder: name the file of the handle");
    }
    try {
      Files.delete(Files.createTempFile(file.getParent(), "." + file.getFileName(), null));
    } catch (IOException e) {
      throw refused(file, "cannot be written: %s".formatted(e));
    }
  }

  /**
   * Checks that a file is absent, or the handle of a store that has ended: reads a row by it,
   * because a driver that is killed leaves its handle.
   *
   * @throws DDStoreException if not
   */
  static void checkReplaceable(Path file) {
    if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    StoreHandle former;
    try {
      former = StoreHandle.read(file);
    } catch (IOException | IllegalArgumentException e) {
      throw refused(file, "is another file, which would be replaced: %s".formatted(e.getMessage()));
    }
    ProcessDirectory.sweepDead(ProcessDirectory.SHARED_MEMORY);
    try (StoreReader reader = former.attach()) {
      reader.rows().reader().getBatch(0).close();
      throw refused(
          file,
          "%,d rows of store \"%s\" are served with it: choose another file, or end that program"
              .formatted(former.rows(), former.name()));
    } catch (RankLostException | StoreGoneException e) {
      // A store that has ended.
    }
  }

  private static DDStoreException refused(Path file, String problem) {
    return new DDStoreException("--handle %s: %s".formatted(file, problem));
  }

  /**
   * Deletes the files, and the folder if {@link #prepare} has made it. Idempotent, because the
   * files may be those of another program afterwards.
   */
  void delete() {
    if (isDeleted.compareAndSet(false, true)) {
      all().forEach(HandleFiles::delete);
      deleteFolder();
    }
  }

  private void deleteFolder() {
    if (madeFolder) {
      delete(option);
    }
  }

  private static void delete(Path path) {
    try {
      Files.deleteIfExists(path);
    } catch (IOException e) {
      System.err.println("ddstore: cannot delete " + path + ": " + e);
    }
  }
}
