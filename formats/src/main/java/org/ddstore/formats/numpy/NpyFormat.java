// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.numpy;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.ddstore.formats.FileFacts;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.FormatOptions;
import org.ddstore.formats.InputFile;
import org.ddstore.formats.Layout;
import org.ddstore.formats.SampleColumn;
import org.ddstore.formats.SampleFormat;
import org.ddstore.formats.SampleReader;
import org.ddstore.formats.Values;

/** Arrays of NumPy, one in each file; a row is an index of the first axis. */
public final class NpyFormat implements SampleFormat {
  private static final long serialVersionUID = 1L;

  /** Name of the column; {@code value} by default. */
  static final String COLUMN = "column";

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
    return List.of(".npy");
  }

  @Override
  public Set<String> options() {
    return Set.of(COLUMN);
  }

  @Override
  public FileFacts inspect(InputFile file, FormatOptions options) throws IOException {
    NpyHeader header;
    try (InputFile.Content content = file.open()) {
      header = NpyHeader.read(file.path(), content::read);
    }
    long expected = header.dataOffset() + header.dataBytes();
    if (file.length() < expected) {
      throw new FormatException(
          file.path(),
          "truncated: the header tells %,d bytes, the file has %,d"
              .formatted(expected, file.length()));
    }
    SampleColumn column = header.column(options.text(COLUMN).orElse("value"));
    return new FileFacts(file, header.rows(), 1, List.of(column), header);
  }

  @Override
  public SampleReader open(FileFacts facts, Layout layout, FormatOptions options)
      throws IOException {
    InputFile.Content content = facts.file().open();
    SampleColumn column = layout.columns().get(0);
    ArrayRows rows = new ArrayRows((NpyHeader) facts.details(), column, content::read);
    return new SampleReader() {
      @Override
      public Values read(int ordinal, long from, int count) throws IOException {
        return rows.read(from, count);
      }

      @Override
      public void close() throws IOException {
        content.close();
      }
    };
  }
}
