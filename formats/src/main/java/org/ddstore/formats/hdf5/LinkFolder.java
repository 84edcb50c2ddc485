// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.hdf5;

import java.io.FileNotFoundException;
import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.ddstore.formats.InputFile;
import org.ddstore.types.Internal;

/** The folder outside a file whose files the links in it may name. */
@Internal
public final class LinkFolder {
  private static final String REMEDY =
      "set the option links to a folder that contains it, or leave the object out by the options";

  private final String folder;

  private LinkFolder(String folder) {
    this.folder = folder;
  }

  /** {@return a folder that contains nothing} */
  public static LinkFolder none() {
    return new LinkFolder(null);
  }

  /**
   * {@return a folder}
   *
   * @param folder absolute path or URI
   * @throws IllegalArgumentException if it is relative
   */
  public static LinkFolder of(String folder) {
    Path path = new Path(folder);
    if (!path.isAbsolute()) {
      throw new IllegalArgumentException("\"%s\" is not an absolute path".formatted(folder));
    }
    return new LinkFolder(folder);
  }

  /** {@return whether a path of the local host is in the folder, after symbolic links} */
  public boolean contains(java.nio.file.Path real) throws IOException {
    if (folder == null) {
      return false;
    }
    java.nio.file.Path local = java.nio.file.Path.of(new Path(folder).toUri().getPath());
    return real.startsWith(local.toRealPath());
  }

  /**
   * {@return the file that an external link names}
   *
   * @param from file with the link
   * @param name name of the file in the link, relative to the folder of the file with the link
   */
  InputFile resolve(InputFile from, String name) throws IOException {
    if (folder == null) {
      throw Hdf5Exception.of(
          "is in the file %s by an external link, which is not followed: %s"
              .formatted(name, REMEDY));
    }
    Path file = new Path(from.path());
    Path target = new Path(file.getParent(), name);
    String root = new Path(file, folder).toString();
    boolean isInside = target.toString().startsWith(root.endsWith("/") ? root : root + "/");
    InputFile found = null;
    if (isInside) {
      try {
        found = from.resolve(target.toUri().getPath()); // on the file system of the link
      } catch (FileNotFoundException e) {
        throw Hdf5Exception.of("is in the file %s, which is missing".formatted(target));
      }
      isInside = found.local() == null || contains(found.local().toRealPath());
    }
    if (!isInside || found.isFolder()) {
      throw Hdf5Exception.of(
          "is in the file %s by an external link, outside the folder %s: %s"
              .formatted(name, root, REMEDY));
    }
    return found;
  }
}
