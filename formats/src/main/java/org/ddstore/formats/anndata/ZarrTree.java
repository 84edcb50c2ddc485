// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.ddstore.formats.ElementType;
import org.ddstore.formats.InputFile;
import org.ddstore.formats.ReadBudget;
import org.ddstore.formats.hdf5.LinkFolder;
import org.ddstore.formats.source.CloseAll;
import org.ddstore.formats.zarr.ZarrArray;
import org.ddstore.formats.zarr.ZarrGroup;

/** A group of zarr. */
final class ZarrTree implements ArrayTree {
  private final ZarrGroup root;
  private final java.nio.file.Path local;
  private final LinkFolder links;
  private final Map<String, ZarrArray> arrays = new HashMap<>();
  private final Map<String, ZarrGroup> groups = new HashMap<>();
  private final Map<String, Kind> kinds = new HashMap<>();
  private final Map<String, JsonNode> attributes = new HashMap<>();

  private enum Kind {
    ARRAY,
    GROUP,
    NONE
  }

  private ZarrTree(ZarrGroup root, java.nio.file.Path local, LinkFolder links) {
    this.root = root;
    this.local = local;
    this.links = links;
  }

  /** Opens a group; symbolic links may lead to {@code links} outside the group. */
  static ZarrTree open(InputFile folder, LinkFolder links) throws IOException {
    return new ZarrTree(ZarrGroup.open(folder), folder.local(), links);
  }

  /** {@return whether a folder is a group of AnnData; before 0.8 only its tables tell it} */
  static boolean isAnnData(InputFile folder, LinkFolder links) throws IOException {
    if (!ZarrGroup.isNode(folder) || ZarrGroup.isArray(folder)) {
      return false;
    }
    ZarrTree tree = open(folder, links);
    String encoding = Encoding.of(tree, "");
    return encoding.equals(Encoding.ANNDATA)
        || (encoding.isEmpty() && Frame.isTable(tree, "obs") && Frame.isTable(tree, "var"));
  }

  @Override
  public String file() {
    return root.path();
  }

  /** Returns what is at a path, looked up once: each look-up is a request to the file system. */
  private Kind kind(String path) throws IOException {
    Kind kind = path.isEmpty() ? Kind.GROUP : kinds.get(path);
    if (kind == null) {
      requireLinksInside(requireInside(path));
      kind = root.hasArray(path) ? Kind.ARRAY : root.has(path) ? Kind.GROUP : Kind.NONE;
      kinds.put(path, kind);
    }
    return kind;
  }

  /** Symbolic links may not lead out of the folder. */
  private void requireLinksInside(String path) throws IOException {
    java.nio.file.Path node = local == null ? null : local.resolve(path);
    if (node == null || Files.notExists(node)) {
      return;
    }
    java.nio.file.Path real = node.toRealPath();
    if (!real.startsWith(local.toRealPath()) && !links.contains(real)) {
      throw problem(
          path,
          "a symbolic link leads out of the folder: set the option links to a folder that contains %s, or leave it out by the options"
              .formatted(real));
    }
  }

  @Override
  public boolean isGroup(String path) throws IOException {
    return kind(path) == Kind.GROUP;
  }

  @Override
  public boolean isArray(String path) throws IOException {
    return kind(path) == Kind.ARRAY;
  }

  @Override
  public List<String> children(String path) throws IOException {
    return isGroup(path) ? group(path).children() : List.of();
  }

  private ZarrGroup group(String path) throws IOException {
    ZarrGroup group = path.isEmpty() ? root : groups.get(path);
    if (group == null) {
      group = root.group(path);
      groups.put(path, group);
    }
    return group;
  }

  private JsonNode attribute(String path, String name) throws IOException {
    JsonNode all = attributes.get(path);
    if (all == null) {
      all =
          switch (kind(path)) {
            case ARRAY -> opened(path).attributes();
            case GROUP -> group(path).attributes();
            case NONE -> JsonNodeFactory.instance.objectNode();
          };
      attributes.put(path, all);
    }
    return all.get(name);
  }

  @Override
  public boolean hasAttribute(String path, String attribute) throws IOException {
    return attribute(path, attribute) != null;
  }

  @Override
  public Optional<List<String>> texts(String path, String attribute) throws IOException {
    JsonNode value = attribute(path, attribute);
    if (value != null && value.isTextual()) {
      return Optional.of(List.of(value.textValue()));
    }
    if (value == null || !value.isArray()) {
      return Optional.empty();
    }
    List<String> texts = new ArrayList<>();
    value.forEach(text -> texts.add(text.asText()));
    return Optional.of(texts);
  }

  @Override
  public Optional<long[]> integers(String path, String attribute) throws IOException {
    JsonNode value = attribute(path, attribute);
    if (value == null || !value.isArray()) {
      return Optional.empty();
    }
    long[] integers = new long[value.size()];
    for (int i = 0; i < integers.length; i++) {
      if (!value.get(i).canConvertToLong()) {
        return Optional.empty();
      }
      integers[i] = value.get(i).longValue();
    }
    return Optional.of(integers);
  }

  @Override
  public StoredArray array(String path) throws IOException {
    return new Slices(file(), path, opened(path));
  }

  private ZarrArray opened(String path) throws IOException {
    ZarrArray array = arrays.get(path);
    if (array == null) {
      array = root.array(path);
      if (array.shape().length == 1) {
        array.cacheBytes(1); // the chunk used last, which the next slice continues
      }
      arrays.put(path, array);
    }
    return array;
  }

  @Override
  public List<String> misplacedChunks() throws IOException {
    List<String> paths = new ArrayList<>();
    for (Map.Entry<String, ZarrArray> array : arrays.entrySet()) {
      for (String path : array.getValue().misplacedChunks()) {
        paths.add(array.getKey() + "/" + path);
      }
    }
    return paths.stream().sorted().limit(ZarrArray.MAX_NAMED_FILES).toList();
  }

  @Override
  public void close() throws IOException {
    ZarrArray[] closed = arrays.values().toArray(ZarrArray[]::new);
    arrays.clear();
    CloseAll.of(closed);
  }

  /** Slices of the first axis of an array. */
  private record Slices(String file, String path, ZarrArray array) implements StoredArray {
    @Override
    public ElementType type() {
      return array.elementType();
    }

    @Override
    public long[] shape() {
      return array.shape();
    }

    @Override
    public int runRows() {
      long[] shape = array.shape();
      return shape.length == 0 ? 1 : (int) Math.max(1, Math.min(array.chunkShape()[0], shape[0]));
    }

    @Override
    public ByteBuffer bytes(long from, int count) throws IOException {
      long[] start = new long[array.shape().length];
      int[] lengths = box(from, count);
      start[0] = from;
      return array.read(start, lengths);
    }

    @Override
    public String[] texts(long from, int count) throws IOException {
      return array.readTexts(new long[] {from}, box(from, count));
    }

    private int[] box(long from, int count) {
      long[] shape = array.shape();
      boolean isTable = shape.length == 2;
      if (shape.length != 1 && !isTable) {
        throw problem(
            "has the shape %s; supported are one and two dimensions"
                .formatted(Arrays.toString(shape)));
      }
      long width = isTable ? shape[1] : 1;
      if (from + count > shape[0]
          || count * width * Math.max(1, type().bytes()) > ReadBudget.MAX_ARRAY_LENGTH) {
        throw problem(
            "rows [%,d, %,d) of %,d elements; there are %,d rows, and one read has at most 2 GiB"
                .formatted(from, from + count, width, shape[0]));
      }
      return isTable ? new int[] {count, (int) width} : new int[] {count};
    }
  }
}
