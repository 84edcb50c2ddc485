// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import java.io.IOException;
import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.util.BitSet;
import org.ddstore.formats.ElementType;
import org.ddstore.formats.ReadBudget;
import org.ddstore.formats.SampleColumn;
import org.ddstore.formats.Values;

/** A column of a table of AnnData, such as {@code obs/cell_type}. */
interface FrameColumn {
  /** The form in which categoricals are read. */
  enum Categoricals {
    TEXT,
    CODES
  }

  String LEGACY_CATEGORIES = "__categories";

  /** Opens a column of the table at the path {@code frame}. */
  static FrameColumn open(ArrayTree tree, String frame, String name, Categoricals categoricals)
      throws IOException {
    String path = frame + "/" + name;
    String encoding = Encoding.of(tree, path);
    if (tree.isArray(path)) {
      String categories = frame + "/" + LEGACY_CATEGORIES + "/" + name;
      if (tree.hasAttribute(path, "categories") && tree.isArray(categories)) {
        return new CategoricalColumn(list(tree, path), list(tree, categories), categoricals);
      }
      return new PlainColumn(list(tree, path));
    }
    if (!tree.isGroup(path)) {
      throw tree.problem(path, "missing, although the table lists it");
    }
    return switch (encoding) {
      case Encoding.CATEGORICAL ->
          new CategoricalColumn(
              list(tree, path + "/codes"), list(tree, path + "/categories"), categoricals);
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
      throw tree.problem(path, "missing: the file is damaged");
    }
    StoredArray array = tree.array(path);
    if (array.shape().length != 1) {
      throw tree.problem(path, "has %d dimensions, not one".formatted(array.shape().length));
    }
    array.type(); // is supported
    return array;
  }

  private static FrameColumn masked(ArrayTree tree, String path) throws IOException {
    StoredArray values = list(tree, path + "/values");
    StoredArray mask = mask(tree, path + "/mask");
    if (values.shape()[0] != mask.shape()[0]) {
      throw tree.problem(
          path,
          "has %,d values, but the mask has %,d: the file is damaged"
              .formatted(values.shape()[0], mask.shape()[0]));
    }
    return new MaskedColumn(values, mask);
  }

  private static StoredArray mask(ArrayTree tree, String path) throws IOException {
    StoredArray mask = list(tree, path);
    if (mask.type() != ElementType.BOOL) {
      throw tree.problem(path, "is %s, not booleans".formatted(mask.type()));
    }
    return mask;
  }

  SampleColumn column(String name);

  long rows();

  /** {@return the categories if the codes are read; else an empty array} */
  default String[] codedCategories() throws IOException {
    return new String[0];
  }

  Values read(long from, int count) throws IOException;

  /** Reads values as texts. */
  default Values names(long from, int count) throws IOException {
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

  /** Numbers, booleans or texts. */
  record PlainColumn(StoredArray array) implements FrameColumn {
    @Override
    public SampleColumn column(String name) {
      return SampleColumn.fixed(name, array.type());
    }

    @Override
    public long rows() {
      return array.shape()[0];
    }

    @Override
    public Values read(long from, int count) throws IOException {
      return array.type() == ElementType.TEXT
          ? Values.texts(array.texts(from, count))
          : Values.fixed(array.type().decode(array.bytes(from, count), count), count, 1);
    }
  }

  /** Values of which a mask hides some. */
  record MaskedColumn(StoredArray values, StoredArray mask) implements FrameColumn {
    @Override
    public SampleColumn column(String name) {
      return SampleColumn.fixed(name, values.type()).orNull();
    }

    @Override
    public long rows() {
      return values.shape()[0];
    }

    @Override
    public Values read(long from, int count) throws IOException {
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
  final class CategoricalColumn implements FrameColumn {
    private final StoredArray codes;
    private final StoredArray categories;
    private final boolean isText;
    private String[] names;

    CategoricalColumn(StoredArray codes, StoredArray categories, Categoricals categoricals) {
      this.codes = codes;
      this.categories = categories;
      this.isText = categoricals == Categoricals.TEXT;
      Integers.require(codes);
      long count = categories.shape()[0];
      if (count > Integer.MAX_VALUE) {
        throw categories.problem(
            "has %,d categories, at most 2^31-1 are supported".formatted(count));
      }
    }

    @Override
    public SampleColumn column(String name) {
      return isText
          ? SampleColumn.fixed(name, ElementType.TEXT).orNull()
          : SampleColumn.fixed(name, ElementType.INT32);
    }

    @Override
    public long rows() {
      return codes.shape()[0];
    }

    @Override
    public String[] codedCategories() throws IOException {
      return isText ? new String[0] : names();
    }

    private String[] names() throws IOException {
      if (names == null) {
        int count = (int) categories.shape()[0];
        ReadBudget.requireHeld(categories.file(), categories.path(), count * ReadBudget.TEXT_BYTES);
        names =
            count == 0
                ? new String[0]
                : (String[]) new PlainColumn(categories).names(0, count).data();
      }
      return names;
    }

    @Override
    public Values read(long from, int count) throws IOException {
      int[] found = Integers.ints(codes, from, count, -1, (int) categories.shape()[0]);
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
