// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import io.jhdf.HdfFile;
import io.jhdf.api.Attribute;
import io.jhdf.api.Dataset;
import io.jhdf.api.Group;
import io.jhdf.api.Link;
import io.jhdf.api.Node;
import java.io.IOException;
import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.apache.hadoop.fs.Path;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.InputFile;
import org.ddstore.formats.source.ContentChannel;

/**
 * An HDF5 file, read by jHDF through {@link InputFile}: without mapping it, and without a copy of a
 * remote file.
 */
final class HdfTree implements ArrayTree {
  private static final byte[] SIGNATURE = {(byte) 0x89, 'H', 'D', 'F', '\r', '\n', 0x1A, '\n'};
  private static final long FIRST_USER_BLOCK = 512;

  private final String file;
  private final InputFile.Content content;
  private final ContentChannel channel;
  private final HdfFile hdf;

  private HdfTree(String file, InputFile.Content content, ContentChannel channel, HdfFile hdf) {
    this.file = file;
    this.content = content;
    this.channel = channel;
    this.hdf = hdf;
  }

  /**
   * Opens a file.
   *
   * @throws FormatException if it is not an HDF5 file, or truncated
   */
  static HdfTree open(InputFile input) throws IOException {
    String file = input.path();
    InputFile.Content content = input.open();
    try {
      requireSignature(input, content);
      ContentChannel channel = new ContentChannel(content, input.length());
      HdfFile hdf =
          guard(file, channel, "HDF5", () -> new HdfFile(channel, new Path(file).toUri()));
      long expected = hdf.getHdfBackingStorage().getSuperblock().getEndOfFileAddress();
      if (expected > input.length()) {
        throw new FormatException(
            file,
            "truncated: the HDF5 header declares %,d bytes, the file has %,d: copy or write the file again"
                .formatted(expected, input.length()));
      }
      return new HdfTree(file, content, channel, hdf);
    } catch (IOException | RuntimeException e) {
      content.close();
      throw e;
    }
  }

  private static void requireSignature(InputFile input, InputFile.Content content)
      throws IOException {
    ByteBuffer found = ByteBuffer.allocate(SIGNATURE.length);
    long at = 0;
    while (at + SIGNATURE.length <= input.length()) {
      content.read(at, found.clear());
      if (Arrays.equals(found.array(), SIGNATURE)) {
        return;
      }
      at = at == 0 ? FIRST_USER_BLOCK : at * 2;
    }
    throw new FormatException(
        input.path(),
        input.length() == 0
            ? "the file is empty"
            : "not an HDF5 file: the signature \\x89HDF is missing");
  }

  /**
   * Calls jHDF.
   *
   * @param path path inside the file, for messages
   * @throws FormatException if jHDF fails, for files that it cannot read
   * @throws IOException if the file system fails
   */
  <T> T guard(String path, Supplier<T> call) throws IOException {
    return guard(file, channel, path, call);
  }

  private static <T> T guard(String file, ContentChannel channel, String path, Supplier<T> call)
      throws IOException {
    try {
      return call.get();
    } catch (FormatException e) {
      throw e;
    } catch (RuntimeException e) { // jHDF has many for damaged files, beside its own
      IOException failure = channel.failure();
      if (failure != null) { // jHDF drops some causes
        failure.addSuppressed(e);
        throw failure;
      }
      String text = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
      throw new FormatException(
          file,
          "%s: cannot be read as HDF5, the file is damaged or uses an unsupported feature: %s"
              .formatted(path.isEmpty() ? "root" : path, text),
          e);
    }
  }

  @Override
  public String file() {
    return file;
  }

  InputFile.Content content() {
    return content;
  }

  HdfFile hdf() {
    return hdf;
  }

  private Node node(String path) throws IOException {
    return guard(path, () -> find(path));
  }

  private Node find(String path) {
    Node node = hdf;
    for (String part : path.isEmpty() ? new String[0] : path.split("/")) {
      if (!(node instanceof Group group)) {
        return null;
      }
      node = group.getChild(part);
      if (node instanceof Link link) {
        node = link.getTarget();
      }
    }
    return node;
  }

  @Override
  public boolean isGroup(String path) throws IOException {
    return node(path) instanceof Group;
  }

  @Override
  public boolean isArray(String path) throws IOException {
    return node(path) instanceof Dataset;
  }

  @Override
  public List<String> children(String path) throws IOException {
    return node(path) instanceof Group group
        ? guard(path, () -> List.copyOf(new TreeSet<>(group.getChildren().keySet())))
        : List.of();
  }

  @Override
  public boolean hasAttribute(String path, String attribute) throws IOException {
    return attribute(path, attribute) != null;
  }

  private Attribute attribute(String path, String name) throws IOException {
    Node node = node(path);
    return node == null ? null : guard(path, () -> node.getAttribute(name));
  }

  private Object value(String path, String name) throws IOException {
    Attribute attribute = attribute(path, name);
    if (attribute == null) {
      return null;
    }
    return guard(
        "%s, attribute %s".formatted(path, name),
        () -> attribute.getSize() == 0 ? new String[0] : attribute.getData());
  }

  @Override
  public Optional<String> text(String path, String attribute) throws IOException {
    return value(path, attribute) instanceof String text ? Optional.of(text) : Optional.empty();
  }

  @Override
  public Optional<List<String>> texts(String path, String attribute) throws IOException {
    Object value = value(path, attribute);
    if (value instanceof String text) {
      return Optional.of(List.of(text));
    }
    return value instanceof String[] texts ? Optional.of(List.of(texts)) : Optional.empty();
  }

  @Override
  public Optional<long[]> integers(String path, String attribute) throws IOException {
    Object value = value(path, attribute);
    if (value == null || !value.getClass().isArray()) {
      return Optional.empty();
    }
    long[] integers = new long[Array.getLength(value)];
    for (int i = 0; i < integers.length; i++) {
      if (!(Array.get(value, i) instanceof Number number)) {
        return Optional.empty();
      }
      integers[i] = number.longValue();
    }
    return Optional.of(integers);
  }

  @Override
  public StoredArray array(String path) throws IOException {
    Dataset dataset = (Dataset) node(path);
    return guard(path, () -> new HdfArray(this, path, dataset));
  }

  @Override
  public void close() throws IOException {
    guard("HDF5", () -> closed(hdf));
  }

  private static boolean closed(HdfFile hdf) {
    hdf.close(); // closes the channel, and that the content
    return true;
  }
}
