// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.numpy;

import java.io.EOFException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.ddstore.formats.FileFacts;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.FormatOptionKeys;
import org.ddstore.formats.FormatOptions;
import org.ddstore.formats.InputFile;
import org.ddstore.formats.Layout;
import org.ddstore.formats.SampleColumn;
import org.ddstore.formats.SampleFormat;
import org.ddstore.formats.SampleReader;
import org.ddstore.formats.source.EnumOption;

/**
 * Arrays of NumPy, one in each file. A row is an index of the first axis, or a file; the arrays of
 * a folder follow each other, or are columns.
 */
public final class NpyFormat implements SampleFormat {
  private static final long serialVersionUID = 1L;

  private static final String SUFFIX = ".npy";

  @Override
  public String name() {
    return "npy";
  }

  @Override
  public String description() {
    return "arrays of NumPy, one in each file";
  }

  @Override
  public List<String> suffixes() {
    return List.of(SUFFIX);
  }

  @Override
  public Set<String> options() {
    return Set.of(FormatOptionKeys.COLUMN, FormatOptionKeys.LAYOUT);
  }

  @Override
  public void check(FormatOptions options) {
    if (layout(options) == RowLayout.COLUMNS && options.text(FormatOptionKeys.COLUMN).isPresent()) {
      throw new IllegalArgumentException(
          "option \"%s\" is \"%s\", but with %s = columns the names of the files are those of the columns"
              .formatted(
                  FormatOptionKeys.COLUMN,
                  options.text(FormatOptionKeys.COLUMN).get(),
                  FormatOptionKeys.LAYOUT));
    }
  }

  private static RowLayout layout(FormatOptions options) {
    return EnumOption.of(options, FormatOptionKeys.LAYOUT, RowLayout.ROWS, RowLayout.values());
  }

  /** With columns, a folder that contains arrays. */
  @Override
  public boolean isUnit(InputFile folder, FormatOptions options) throws IOException {
    return layout(options) == RowLayout.COLUMNS && !arraysIn(folder).isEmpty();
  }

  private static List<InputFile> arraysIn(InputFile folder) throws IOException {
    return folder.children().stream()
        .filter(file -> !file.isFolder() && isArray(file.name()))
        .sorted(Comparator.comparing(InputFile::name))
        .toList();
  }

  private static boolean isArray(String name) {
    return name.toLowerCase(Locale.ROOT).endsWith(SUFFIX)
        && !name.startsWith(".")
        && !name.startsWith("_");
  }

  @Override
  public FileFacts inspect(InputFile file, FormatOptions options) throws IOException {
    RowLayout layout = layout(options);
    if (layout != RowLayout.COLUMNS) {
      String column = options.text(FormatOptionKeys.COLUMN).orElse("value");
      return facts(file, List.of(inspect(file, column, layout)));
    }
    if (!file.isFolder()) {
      throw new FormatException(
          file.path(),
          "%s = columns reads folders of arrays: load the folder, not its files"
              .formatted(FormatOptionKeys.LAYOUT));
    }
    List<NumpyArray> arrays = new ArrayList<>();
    for (InputFile member : arraysIn(file)) {
      String name = member.name();
      arrays.add(inspect(member, name.substring(0, name.length() - SUFFIX.length()), layout));
    }
    return facts(file, arrays);
  }

  private static NumpyArray inspect(InputFile file, String column, RowLayout layout)
      throws IOException {
    try (InputFile.Content content = file.open()) {
      NpyHeader header = NpyHeader.read(file.path(), content::read);
      return NumpyArray.of(file, null, header, column, layout);
    } catch (EOFException e) { // the data set may be its folder
      throw FormatException.truncated(file.path(), e);
    }
  }

  /** Returns the facts of arrays, which must share the first axis. */
  static FileFacts facts(InputFile file, List<NumpyArray> arrays) {
    NumpyArray first = arrays.get(0);
    for (NumpyArray other : arrays) {
      if (other.rows() != first.rows()) {
        throw FormatException.of(
            file.path(),
            "column " + other.column().name(),
            "has %,d rows, but column %s has %,d: columns must have the same first axis"
                .formatted(other.rows(), first.column().name(), first.rows()));
      }
    }
    boolean isSliced = arrays.stream().noneMatch(NumpyArray::isDeflated);
    List<SampleColumn> columns = arrays.stream().map(NumpyArray::column).toList();
    long splitRows = isSliced ? 1 : Math.max(1, first.rows());
    return new FileFacts(file, first.rows(), 1, splitRows, columns, new ArrayList<>(arrays));
  }

  @Override
  public SampleReader open(FileFacts facts, Layout layout, FormatOptions options) {
    return new ArraysReader(arrays(facts));
  }

  @SuppressWarnings("unchecked") // what facts(..) has put there
  static List<NumpyArray> arrays(FileFacts facts) {
    return (List<NumpyArray>) facts.details();
  }
}
