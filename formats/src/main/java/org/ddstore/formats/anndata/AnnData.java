// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.ddstore.formats.FileFacts;
import org.ddstore.formats.FormatOptionKeys;
import org.ddstore.formats.FormatOptions;

/** Names that belong to the numbers in a DataFrame of AnnData. They are read from the files. */
public final class AnnData {
  private AnnData() {}

  /**
   * {@return the names of the genes, in the order of the columns of X and the layers; joined if
   * there are several files}
   *
   * @param options options of the read, such as {@code join}
   * @param path path of the read: a file, a folder or a pattern
   * @throws IllegalArgumentException if there is no such file, or an option is illegal
   * @throws org.ddstore.formats.FormatException if a file cannot be read
   */
  public static List<String> genes(Map<String, String> options, String path) {
    // Only the matrices count, so files may differ in all else.
    Map<String, String> names = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    names.putAll(options);
    names.putAll(Map.of(FormatOptionKeys.OBS, "", FormatOptionKeys.OBSM, ""));
    AnnDataOptions given = parse(options);
    if (given.hasX() || given.layers().isEmpty()) {
      names.put(FormatOptionKeys.X, "dense");
    }
    try {
      return new Collection(AnnDataSource.files(names, path), parse(names)).genes();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read the genes of " + path, e);
    }
  }

  /**
   * {@return the categories that the codes of a column are indices of}
   *
   * @param path path of the read: a file, a folder or a pattern
   * @param column categorical column of obs
   * @throws IllegalArgumentException if there is no such file
   * @throws org.ddstore.formats.FormatException if a file cannot be read, or files have different
   *     categories
   */
  public static List<String> categories(String path, String column) {
    Map<String, String> options =
        Map.of(
            FormatOptionKeys.OBS,
            column,
            FormatOptionKeys.X,
            "none",
            FormatOptionKeys.CATEGORICALS,
            "codes");
    List<FileFacts> files = AnnDataSource.files(options, path);
    try (AnnDataFile file = AnnDataFile.open(files.get(0).file(), parse(options))) {
      return List.of(file.obs(column).codedCategories());
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read the categories of " + path, e);
    }
  }

  private static AnnDataOptions parse(Map<String, String> options) {
    return AnnDataOptions.of(new FormatOptions(options));
  }
}
