// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.InputFile;

/**
 * A group: a folder of arrays and groups. A folder in a group that has no metadata, but arrays in
 * it, is a group, too. Holds no open files; its arrays share the memory of one reader.
 */
public final class ZarrGroup {
  private static final int MAX_DEPTH = 32;

  private final InputFile folder;
  private final NodeFiles.Kind kind;
  private final ReaderMemory memory = new ReaderMemory();

  private ZarrGroup(InputFile folder, NodeFiles.Kind kind) {
    this.folder = folder;
    this.kind = kind;
  }

  /**
   * Opens a group.
   *
   * @throws FormatException if the folder is not a group
   */
  public static ZarrGroup open(InputFile folder) throws IOException {
    NodeFiles.Kind kind = folder.isFolder() ? new NodeFiles(folder).kind() : NodeFiles.Kind.NONE;
    if (kind == NodeFiles.Kind.NONE || kind.isArray()) {
      throw new FormatException(
          folder.path(), "not a zarr group: the folder has no .zgroup and no zarr.json of a group");
    }
    return new ZarrGroup(folder, kind);
  }

  /** {@return whether a folder has the metadata of a group or an array} */
  public static boolean isNode(InputFile folder) throws IOException {
    return folder.has(NodeFiles.NODE_V3)
        || folder.has(NodeFiles.GROUP_V2)
        || folder.has(NodeFiles.ARRAY_V2);
  }

  /** {@return whether a folder is an array} */
  public static boolean isArray(InputFile folder) throws IOException {
    return folder.isFolder() && new NodeFiles(folder).kind().isArray();
  }

  /** {@return the path of the folder} */
  public String path() {
    return folder.path();
  }

  /** {@return the attributes; an empty object if there are none} */
  public JsonNode attributes() throws IOException {
    return new NodeFiles(folder).attributes(kind);
  }

  /** {@return the names of the arrays and groups in this group, in ascending order} */
  public List<String> children() throws IOException {
    List<String> names = new ArrayList<>();
    for (InputFile child : folders(folder)) {
      if (isNode(child) || hasArrays(child)) {
        names.add(child.name());
      }
    }
    return names;
  }

  /** {@return the paths of all arrays in this group and the groups in it, such as {@code a/b}} */
  public List<String> arrays() throws IOException {
    List<String> paths = new ArrayList<>();
    addArrays(folder, "", 1, paths);
    return paths;
  }

  private static void addArrays(InputFile group, String prefix, int depth, List<String> paths)
      throws IOException {
    if (depth > MAX_DEPTH) {
      throw new FormatException(
          group.path(), "folders in groups are nested deeper than %d levels".formatted(MAX_DEPTH));
    }
    for (InputFile child : folders(group)) {
      String path = prefix + child.name();
      if (isArray(child)) {
        paths.add(path);
      } else {
        addArrays(child, path + "/", depth + 1, paths);
      }
    }
  }

  /** Returns the folders in a folder, ordered by name. */
  private static List<InputFile> folders(InputFile parent) throws IOException {
    List<InputFile> folders = new ArrayList<>();
    for (InputFile child : parent.folders()) {
      if (child.name().startsWith(".") && !isNode(child)) {
        continue;
      }
      if (child.isLinkBack()) {
        throw new FormatException(
            child.path(), "a symbolic link to a folder that contains it: remove the link");
      }
      folders.add(child);
    }
    folders.sort(Comparator.comparing(InputFile::name));
    return folders;
  }

  private static boolean hasArrays(InputFile folder) throws IOException {
    List<String> paths = new ArrayList<>();
    addArrays(folder, "", 1, paths);
    return !paths.isEmpty();
  }

  /**
   * {@return whether a path names something in this group, not outside of it}
   *
   * @param path path relative to this group, such as {@code a/b}
   */
  public static boolean isInside(String path) {
    for (String name : path.split("/", -1)) {
      if (name.isEmpty() || name.equals(".") || name.equals("..") || name.indexOf('\0') >= 0) {
        return false;
      }
    }
    return true;
  }

  /**
   * {@return whether there is an array or a group at a path}
   *
   * @param path path relative to this group, such as {@code a/b}
   * @throws FormatException if the path leads out of the group
   */
  public boolean has(String path) throws IOException {
    requireInside(path);
    if (!folder.has(path)) {
      return false;
    }
    InputFile found = folder.resolve(path);
    return isNode(found) || (found.isFolder() && hasArrays(found));
  }

  /**
   * {@return whether there is an array at a path}
   *
   * @throws FormatException if the path leads out of the group
   */
  public boolean hasArray(String path) throws IOException {
    requireInside(path);
    return folder.has(path) && isArray(folder.resolve(path));
  }

  /**
   * Opens a group in this group.
   *
   * @throws FormatException if there is none at the path, or it leads out of the group
   */
  public ZarrGroup group(String path) throws IOException {
    InputFile found = resolve(path);
    boolean isImplicit = found.isFolder() && !isNode(found);
    return isImplicit ? new ZarrGroup(found, NodeFiles.Kind.NONE) : open(found);
  }

  /**
   * Opens an array in this group. The caller closes it.
   *
   * @throws FormatException if there is none at the path, it leads out of the group, or the array
   *     is not supported
   */
  public ZarrArray array(String path) throws IOException {
    return ZarrArray.open(resolve(path), memory);
  }

  private InputFile resolve(String path) throws IOException {
    requireInside(path);
    try {
      return folder.resolve(path);
    } catch (FileNotFoundException e) {
      throw new FormatException(
          folder.path(), "\"%s\" is missing: the group has %s".formatted(path, children()), e);
    }
  }

  private void requireInside(String path) {
    if (!isInside(path)) {
      throw new FormatException(
          folder.path(), "\"%s\" does not name an array or a group in this folder".formatted(path));
    }
  }

  @Override
  public String toString() {
    return folder.path();
  }
}
