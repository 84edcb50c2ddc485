// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.file;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.ddstore.formats.ElementType;
import org.ddstore.formats.FileFacts;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.FormatOptionKeys;
import org.ddstore.formats.FormatOptions;
import org.ddstore.formats.InputFile;
import org.ddstore.formats.Layout;
import org.ddstore.formats.ReadBudget;
import org.ddstore.formats.SampleColumn;
import org.ddstore.formats.SampleFormat;
import org.ddstore.formats.SampleReader;
import org.ddstore.formats.Values;

/** Files of any kind, each of them a row with its path, its content and its length. */
public final class FileFormat implements SampleFormat {
  private static final long serialVersionUID = 1L;

  private static final String NAME = "files";

  private static final String PATH = "path";
  private static final String BYTES = "bytes";
  private static final String LENGTH = "length";

  private static final List<SampleColumn> COLUMNS =
      List.of(
          SampleColumn.fixed(PATH, ElementType.TEXT),
          SampleColumn.ragged(BYTES, ElementType.UINT8),
          SampleColumn.fixed(LENGTH, ElementType.INT64));

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String description() {
    return "files of any kind, each of them one row";
  }

  @Override
  public List<String> suffixes() {
    return List.of();
  }

  @Override
  public List<String> suffixes(FormatOptions options) {
    return options.list(FormatOptionKeys.SUFFIX).stream()
        .map(suffix -> suffix.toLowerCase(Locale.ROOT))
        .toList();
  }

  @Override
  public Set<String> options() {
    return Set.of(FormatOptionKeys.SUFFIX);
  }

  @Override
  public FileFacts inspect(InputFile file, FormatOptions options) {
    if (file.length() > ReadBudget.MAX_ARRAY_LENGTH) {
      throw new FormatException(
          file.path(), "%,d bytes are more than one row can have".formatted(file.length()));
    }
    return new FileFacts(file, 1, 1, COLUMNS, null);
  }

  @Override
  public SampleReader open(FileFacts facts, Layout layout, FormatOptions options) {
    return new WholeFileReader(facts.file());
  }

  /** A reader of one file as one row; it opens the file only if its content is asked for. */
  private record WholeFileReader(InputFile file) implements SampleReader {
    @Override
    public Values read(int column, long from, int count) throws IOException {
      return switch (column) {
        case 0 -> Values.texts(file.relativePath());
        case 1 -> Values.ragged(file.readAll().array(), 0, (int) file.length());
        default -> Values.fixed(new long[] {file.length()}, 1, 1);
      };
    }

    @Override
    public void close() {}
  }
}
