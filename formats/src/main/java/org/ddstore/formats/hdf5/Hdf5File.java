// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.hdf5;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.spark.TaskKilledException;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.InputFile;
import org.ddstore.formats.source.CloseAll;
import org.ddstore.types.Internal;

/**
 * An open HDF5 file. Objects are named by paths such as {@code obs/cell_type}; the root is the
 * empty path. Links are followed, those to other files if {@link LinkFolder} has the file. All
 * methods throw {@link FormatException}, which names file and object, for content that cannot be
 * read. Not thread-safe.
 */
@Internal
public final class Hdf5File implements Closeable {
  /** The limit of the HDF5 library, which ends loops of links. */
  private static final int MAX_LINKS = 16;

  private static final int OBJECTS = 64;

  private final InputFile input;
  private final InputFile.Content content;
  private final LinkFolder folder;
  private final Map<String, Hdf5File> others;
  private FileBytes bytes;
  private GlobalHeap heap;
  private long root;
  private final Map<Long, Hdf5Object> objects = new RecentlyUsed<>(OBJECTS);

  @FunctionalInterface
  private interface AttributeReader<T> {
    Optional<T> read(Hdf5Attribute attribute) throws IOException;
  }

  private Hdf5File(InputFile input, LinkFolder folder, Map<String, Hdf5File> others)
      throws IOException {
    this.input = input;
    this.content = input.open();
    this.folder = folder;
    this.others = others;
  }

  /** A call that reads the file. */
  @FunctionalInterface
  interface Call<T> {
    T run() throws IOException;
  }

  /**
   * Opens a file.
   *
   * @param folder where files of external links may be
   * @throws FormatException if it is not an HDF5 file, or truncated
   */
  public static Hdf5File open(InputFile input, LinkFolder folder) throws IOException {
    return open(input, folder, new HashMap<>());
  }

  private static Hdf5File open(InputFile input, LinkFolder folder, Map<String, Hdf5File> others)
      throws IOException {
    Hdf5File file = new Hdf5File(input, folder, others);
    try {
      file.guard(
          "HDF5",
          () -> {
            Superblock block = Superblock.read(input, file.content);
            file.bytes = block.bytes();
            file.heap = new GlobalHeap(block.bytes());
            file.root = block.root();
            return file.object(file.root);
          });
    } catch (IOException | RuntimeException e) {
      file.content.close();
      throw e;
    }
    return file;
  }

  /** Reads the file, and adds file and object to failures. */
  <T> T guard(String object, Call<T> call) throws IOException {
    try {
      return call.run();
    } catch (FormatException | TaskKilledException e) {
      throw e;
    } catch (Hdf5Exception e) {
      throw failure(object, e.getMessage(), e);
    } catch (RuntimeException e) {
      throw failure(object, "cannot be read as HDF5, the file is damaged: " + e, e);
    } catch (StackOverflowError | OutOfMemoryError e) {
      throw failure(object, "cannot be read in the memory of a task (%s)".formatted(e), e);
    }
  }

  /** As {@link #guard}, for calls that read nothing. */
  <T> T guardUnchecked(String object, Supplier<T> call) {
    try {
      return call.get();
    } catch (Hdf5Exception e) {
      throw failure(object, e.getMessage(), e);
    }
  }

  private FormatException failure(String object, String problem, Throwable cause) {
    String name = object.isEmpty() ? "root" : object;
    return new FormatException(input.path(), name + ": " + problem, cause);
  }

  /** {@return the path of the file} */
  public String path() {
    return input.path();
  }

  FileBytes bytes() {
    return bytes;
  }

  GlobalHeap heap() {
    return heap;
  }

  private Hdf5Object object(long address) throws IOException {
    Hdf5Object object = objects.get(address);
    if (object == null) {
      object = new Hdf5Object(this, address);
      objects.put(address, object);
    }
    return object;
  }

  private Hdf5Object find(String path) throws IOException {
    return guard(path, () -> find(object(root), path, new int[1]));
  }

  /**
   * Returns the object at a path; null if there is none.
   *
   * @param start group where the path begins
   * @param followed number of soft and external links that were followed
   */
  private static Hdf5Object find(Hdf5Object start, String path, int[] followed) throws IOException {
    Hdf5Object at = start;
    for (String name : path.split("/", 0)) {
      if (name.isEmpty() || name.equals(".")) {
        continue;
      }
      Link link = at.isGroup() ? at.links().get(name) : null;
      if (link == null) {
        return null;
      }
      at = at.file().follow(at, link, followed);
    }
    return at;
  }

  private Hdf5Object follow(Hdf5Object group, Link link, int[] followed) throws IOException {
    if (link.unknownKind() != 0) {
      throw Hdf5Exception.unsupported(
          "a link of kind %d".formatted(link.unknownKind()), "leave the object out by the options");
    }
    if (link.path() == null) {
      return object(link.address());
    }
    followed[0]++;
    if (followed[0] > MAX_LINKS) {
      throw Hdf5Exception.of(
          "more than %d links follow each other, or lead back: link to the object itself"
              .formatted(MAX_LINKS));
    }
    Hdf5Object found;
    if (link.isExternal()) {
      Hdf5File other = other(folder.resolve(input, link.file()));
      found = find(other.object(other.root), link.path(), followed);
    } else {
      found = find(link.path().startsWith("/") ? object(root) : group, link.path(), followed);
    }
    if (found == null) {
      throw Hdf5Exception.of(
          "is a link to %s%s, which is missing"
              .formatted(link.isExternal() ? link.file() + ":" : "", link.path()));
    }
    return found;
  }

  /** Returns another file, which is open as long as the first one. */
  private Hdf5File other(InputFile target) throws IOException {
    if (target.path().equals(input.path())) {
      return this;
    }
    Hdf5File other = others.get(target.path());
    if (other == null) {
      other = open(target, folder, others);
      others.put(target.path(), other);
    }
    return other;
  }

  /** {@return whether there is a group at a path} */
  public boolean isGroup(String path) throws IOException {
    Hdf5Object object = find(path);
    return object != null && object.isGroup();
  }

  /** {@return whether there is a data set at a path} */
  public boolean isDataset(String path) throws IOException {
    Hdf5Object object = find(path);
    return object != null && object.isDataset();
  }

  /** {@return the names in a group, ordered; none if there is no group} */
  public List<String> children(String path) throws IOException {
    Hdf5Object object = find(path);
    return object == null || !object.isGroup()
        ? List.of()
        : guard(path, () -> List.copyOf(object.links().keySet()));
  }

  private Hdf5Attribute attribute(String path, String name) throws IOException {
    Hdf5Object object = find(path);
    return object == null ? null : object.attribute(name);
  }

  private static String place(String path, String attribute) {
    return "%s, attribute %s".formatted(path.isEmpty() ? "root" : path, attribute);
  }

  /** {@return whether a group or data set has an attribute} */
  public boolean hasAttribute(String path, String attribute) throws IOException {
    return guard(place(path, attribute), () -> attribute(path, attribute) != null);
  }

  /** {@return texts of an attribute; empty if it is missing or has another type} */
  public Optional<List<String>> texts(String path, String attribute) throws IOException {
    return value(path, attribute, Hdf5Attribute::texts);
  }

  /** {@return a list of integers of an attribute; empty if it is missing or has another type} */
  public Optional<long[]> integers(String path, String attribute) throws IOException {
    return value(path, attribute, Hdf5Attribute::integers);
  }

  private <T> Optional<T> value(String path, String name, AttributeReader<T> reader)
      throws IOException {
    return guard(
        place(path, name),
        () -> {
          Hdf5Attribute found = attribute(path, name);
          return found == null ? Optional.empty() : reader.read(found);
        });
  }

  /** {@return the data set at a path, which must exist} It is valid until the file is closed. */
  public Hdf5Dataset dataset(String path) throws IOException {
    Hdf5Object object = find(path);
    return guard(path, () -> new Hdf5Dataset(this, object, path));
  }

  @Override
  public void close() throws IOException {
    List<Closeable> contents = new ArrayList<>(List.of(content));
    others.values().forEach(other -> contents.add(other.content));
    others.clear();
    CloseAll.of(contents.toArray(Closeable[]::new));
  }
}
