// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.FormatOptionKeys;
import org.ddstore.formats.FormatOptions;
import org.ddstore.formats.hdf5.LinkFolder;
import org.ddstore.formats.source.EnumOption;

/**
 * The options of the formats {@code anndata} and {@code h5ad}.
 *
 * @param x form of the matrix X, and of the layers
 * @param hasX whether X is read
 * @param obs columns of obs
 * @param layers names of layers
 * @param obsm names of arrays of obsm
 * @param categoricals what categoricals become
 * @param outer whether genes of any file are those of the data set, instead of those of all files
 * @param missingIsNull whether a column of obs that a file does not have is null there
 * @param links folder outside a file whose files links may name
 */
record AnnDataOptions(
    Form x,
    boolean hasX,
    Selection obs,
    Selection layers,
    Selection obsm,
    FrameColumn.Categoricals categoricals,
    boolean outer,
    boolean missingIsNull,
    LinkFolder links) {
  static final Set<String> KEYS =
      Set.of(
          FormatOptionKeys.X,
          FormatOptionKeys.OBS,
          FormatOptionKeys.LAYERS,
          FormatOptionKeys.OBSM,
          FormatOptionKeys.CATEGORICALS,
          FormatOptionKeys.JOIN,
          FormatOptionKeys.MISSING,
          FormatOptionKeys.LINKS);

  private static final String ALL = "*";
  private static final String NONE = "none";

  /** Form of a matrix in the DataFrame. */
  enum Form {
    STORED,
    DENSE,
    SPARSE
  }

  /** Parts that are read: all, or some in an order. */
  record Selection(boolean all, List<String> names) {
    private static Selection of(FormatOptions options, String key, String byDefault) {
      String text = options.text(key).orElse(byDefault);
      List<String> names = text.isEmpty() ? List.of() : List.of(text.split("\\s*,\\s*"));
      return new Selection(text.equals(ALL), names);
    }

    boolean isEmpty() {
      return !all && names.isEmpty();
    }

    /** Returns the selected names, all of which must be {@code present} in a part of the file. */
    List<String> select(String file, String what, List<String> present) {
      if (all) {
        return present;
      }
      List<String> found = new ArrayList<>();
      for (String name : names) {
        if (!present.contains(name)) {
          throw FormatException.of(
              file,
              what + "/" + name,
              "missing, but selected by the option \"%s\"; the file has %s"
                  .formatted(what, present));
        }
        found.add(name);
      }
      return found;
    }

    /** Returns the selected names that a file has. */
    List<String> selectPresent(List<String> present) {
      return all ? present : names.stream().filter(present::contains).toList();
    }
  }

  static AnnDataOptions of(FormatOptions options) {
    String x = options.choice(FormatOptionKeys.X, "stored", "stored", "dense", "sparse", NONE);
    boolean hasX = !x.equals(NONE);
    return new AnnDataOptions(
        hasX ? Form.valueOf(x.toUpperCase(Locale.ROOT)) : Form.STORED,
        hasX,
        Selection.of(options, FormatOptionKeys.OBS, ALL),
        Selection.of(options, FormatOptionKeys.LAYERS, ""),
        Selection.of(options, FormatOptionKeys.OBSM, ""),
        EnumOption.of(
            options,
            FormatOptionKeys.CATEGORICALS,
            FrameColumn.Categoricals.TEXT,
            FrameColumn.Categoricals.values()),
        options.choice(FormatOptionKeys.JOIN, "inner", "inner", "outer").equals("outer"),
        options.choice(FormatOptionKeys.MISSING, "error", "error", "null").equals("null"),
        links(options));
  }

  private static LinkFolder links(FormatOptions options) {
    try {
      return options.text(FormatOptionKeys.LINKS).map(LinkFolder::of).orElse(LinkFolder.none());
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "option \"%s\": %s: give the absolute path of a folder"
              .formatted(FormatOptionKeys.LINKS, e.getMessage()),
          e);
    }
  }

  boolean hasMatrix() {
    return hasX || !layers.isEmpty();
  }
}
