// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.InputFile;

/** A group: a folder of arrays and groups. Holds no open files. */
public final class ZarrGroup {
  private final InputFile folder;
  private final NodeFiles.Kind kind;

  private ZarrGroup(InputFile folder, NodeFiles.Kind kind) {
    this.folder = folder;
    this.kind = kind;
  }

  /**
   * Opens a group.
   *
   * @throws FormatException if the folder is not a group
   * @throws IOException if it cannot be read
   */
  public static ZarrGroup open(InputFile folder) throws IOException {
    NodeFiles.Kind kind = folder.isFolder() ? new NodeFiles(folder).kind() : NodeFiles.Kind.NONE;
    if (kind == NodeFiles.Kind.NONE || kind.isArray()) {
      throw new FormatException(
          folder.path(), "not a zarr group: the folder has no .zgroup and no zarr.json of a group");
    }
    return new ZarrGroup(folder, kind);
  }

  /** {@return whether a folder is a group or an array} */
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
    for (InputFile child : folder.children()) {
      if (child.isFolder() && isNode(child)) {
        names.add(child.name());
      }
    }
    names.sort(null);
    return names;
  }

  /** {@return the paths of all arrays in this group and the groups in it, such as {@code a/b}} */
  public List<String> arrays() throws IOException {
    List<String> paths = new ArrayList<>();
    for (String name : children()) {
      InputFile child = folder.resolve(name);
      if (isArray(child)) {
        paths.add(name);
      } else {
        open(child).arrays().forEach(inner -> paths.add(name + "/" + inner));
      }
    }
    return paths;
  }

  /**
   * {@return whether there is an array or a group at a path}
   *
   * @param path path relative to this group, such as {@code a/b}
   */
  public boolean has(String path) throws IOException {
    return folder.has(path) && isNode(folder.resolve(path));
  }

  /** {@return whether there is an array at a path} */
  public boolean hasArray(String path) throws IOException {
    return folder.has(path) && isArray(folder.resolve(path));
  }

  /**
   * Opens a group in this group.
   *
   * @throws FormatException if there is none at the path
   */
  public ZarrGroup group(String path) throws IOException {
    return open(resolve(path));
  }

  /**
   * Opens an array in this group. The caller closes it.
   *
   * @throws FormatException if there is none at the path, or it is not supported
   */
  public ZarrArray array(String path) throws IOException {
    return ZarrArray.open(resolve(path));
  }

  private InputFile resolve(String path) throws IOException {
    try {
      return folder.resolve(path);
    } catch (FileNotFoundException e) {
      throw new FormatException(
          folder.path(), "\"%s\" is missing: the group has %s".formatted(path, children()), e);
    }
  }

  @Override
  public String toString() {
    return folder.path();
  }
}
