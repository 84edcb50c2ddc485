// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import java.io.IOException;
import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.util.BitSet;
import org.ddstore.formats.ElementType;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.ReadBudget;
import org.ddstore.formats.SampleColumn;
import org.ddstore.formats.Values;

/** A column of a table of AnnData, such as {@code obs/cell_type}. */
abstract class FrameColumn {
  /** The form in which categoricals are read. */
  enum Categoricals {
    TEXT,
    CODES
  }

  static final String LEGACY_CATEGORIES = "__categories";

  /**
   * Opens a column.
   *
   * @param frame path of the table
   * @param name name of the column
   * @throws FormatException if it is missing, or has an encoding that is not supported
   */
  static FrameColumn open(ArrayTree tree, String frame, String name, Categoricals categoricals)
      throws IOException {
    String path = frame + "/" + name;
    String encoding = Encoding.of(tree, path);
    if (tree.isArray(path)) {
      String categories = frame + "/" + LEGACY_CATEGORIES + "/" + name;
      if (tree.hasAttribute(path, "categories") && tree.isArray(categories)) {
        return new CategoricalColumn(
            tree.file(), list(tree, path), list(tree, categories), categoricals);
      }
      return new PlainColumn(list(tree, path));
    }
    if (!tree.isGroup(path)) {
      throw FormatException.of(tree.file(), path, "missing, although the table lists it");
    }
    return switch (encoding) {
      case Encoding.CATEGORICAL ->
          new CategoricalColumn(
              tree.file(),
              list(tree, path + "/codes"),
              list(tree, path + "/categories"),
              categoricals);
      case "nullable-integer", "nullable-boolean", "nullable-string-array" -> masked(tree, path);
      default ->
          throw Encoding.unsupported(
              tree,
              path,
              encoding,
              "arrays, categorical, nullable-integer, nullable-boolean and nullable-string-array");
    };
  }

  private static StoredArray list(ArrayTree tree, String path) throws IOException {
    if (!tree.isArray(path)) {
      throw FormatException.of(tree.file(), path, "missing: the file is damaged");
    }
    StoredArray array = tree.array(path);
    if (array.shape().length != 1) {
      throw FormatException.of(
          tree.file(), path, "has %d dimensions, not one".formatted(array.shape().length));
    }
    array.type(); // is supported
    return array;
  }

  private static FrameColumn masked(ArrayTree tree, String path) throws IOException {
    StoredArray values = list(tree, path + "/values");
    StoredArray mask = mask(tree, path + "/mask");
    if (values.shape()[0] != mask.shape()[0]) {
      throw FormatException.of(
          tree.file(),
          path,
          "has %,d values, but the mask has %,d: the file is damaged"
              .formatted(values.shape()[0], mask.shape()[0]));
    }
    return new MaskedColumn(values, mask);
  }

  private static StoredArray mask(ArrayTree tree, String path) throws IOException {
    StoredArray mask = list(tree, path);
    if (mask.type() != ElementType.BOOL) {
      throw FormatException.of(tree.file(), path, "is %s, not booleans".formatted(mask.type()));
    }
    return mask;
  }

  /** {@return the column of the DataFrame} */
  abstract SampleColumn column(String name);

  abstract long rows();

  /** {@return the categories if the codes are read; else an empty array} */
  String[] coded() throws IOException {
    return new String[0];
  }

  /**
   * Reads values.
   *
   * @param from first row
   * @param count number of rows, at least 1
   */
  abstract Values read(long from, int count) throws IOException;

  /**
   * Reads values as texts.
   *
   * @param from first row
   * @param count number of rows, at least 1
   */
  final Values names(long from, int count) throws IOException {
    Values values = read(from, count);
    if (values.data() instanceof String[]) {
      return values;
    }
    String[] texts = new String[count];
    for (int i = 0; i < count; i++) {
      texts[i] = values.isNull(i) ? null : String.valueOf(Array.get(values.data(), i));
    }
    return Values.texts(texts);
  }

  private static Object decoded(StoredArray array, ByteBuffer bytes, int count) {
    return array.type().decode(bytes, count);
  }

  /** Numbers, booleans or texts. */
  private static final class PlainColumn extends FrameColumn {
    private final StoredArray array;

    PlainColumn(StoredArray array) {
      this.array = array;
    }

    @Override
    SampleColumn column(String name) {
      return SampleColumn.fixed(name, array.type());
    }

    @Override
    long rows() {
      return array.shape()[0];
    }

    @Override
    Values read(long from, int count) throws IOException {
      return array.type() == ElementType.TEXT
          ? Values.texts(array.texts(from, count))
          : Values.fixed(decoded(array, array.bytes(from, count), count), count, 1);
    }
  }

  /** Values of which a mask hides some. */
  private static final class MaskedColumn extends FrameColumn {
    private final StoredArray values;
    private final StoredArray mask;

    MaskedColumn(StoredArray values, StoredArray mask) {
      this.values = values;
      this.mask = mask;
    }

    @Override
    SampleColumn column(String name) {
      return SampleColumn.fixed(name, values.type()).orNull();
    }

    @Override
    long rows() {
      return values.shape()[0];
    }

    @Override
    Values read(long from, int count) throws IOException {
      Values found = new PlainColumn(values).read(from, count);
      BitSet nulls = new BitSet();
      ByteBuffer hidden = mask.bytes(from, count);
      for (int i = 0; i < count; i++) {
        nulls.set(i, hidden.get(i) != 0 || found.isNull(i));
      }
      return found.nulls(nulls);
    }
  }

  /** Codes, and the categories that they are indices of; -1 is a missing value. */
  private static final class CategoricalColumn extends FrameColumn {
    private final String file;
    private final StoredArray codes;
    private final StoredArray categories;
    private final boolean isText;
    private String[] names;

    CategoricalColumn(
        String file, StoredArray codes, StoredArray categories, Categoricals categoricals) {
      this.file = file;
      this.codes = codes;
      this.categories = categories;
      this.isText = categoricals == Categoricals.TEXT;
      Integers.require(file, codes);
      long count = categories.shape()[0];
      if (count > Integer.MAX_VALUE) {
        throw FormatException.of(
            file,
            categories.path(),
            "has %,d categories, at most 2^31-1 are supported".formatted(count));
      }
    }

    @Override
    SampleColumn column(String name) {
      return isText
          ? SampleColumn.fixed(name, ElementType.TEXT).orNull()
          : SampleColumn.fixed(name, ElementType.INT32);
    }

    @Override
    long rows() {
      return codes.shape()[0];
    }

    @Override
    String[] coded() throws IOException {
      return isText ? new String[0] : names();
    }

    private String[] names() throws IOException {
      if (names == null) {
        int count = (int) categories.shape()[0];
        ReadBudget.requireHeld(file, categories.path(), count * ReadBudget.TEXT_BYTES);
        names =
            count == 0
                ? new String[0]
                : (String[]) new PlainColumn(categories).names(0, count).data();
      }
      return names;
    }

    @Override
    Values read(long from, int count) throws IOException {
      int[] found = Integers.ints(file, codes, from, count, -1, (int) categories.shape()[0]);
      if (!isText) {
        return Values.fixed(found, count, 1);
      }
      String[] texts = new String[count];
      for (int i = 0; i < count; i++) {
        texts[i] = found[i] < 0 ? null : names()[found[i]];
      }
      return Values.texts(texts);
    }
  }
}
