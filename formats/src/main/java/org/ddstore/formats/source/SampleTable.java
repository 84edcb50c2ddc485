// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.source;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.catalog.MetadataColumn;
import org.apache.spark.sql.connector.catalog.SupportsMetadataColumns;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.ddstore.formats.FileFacts;
import org.ddstore.formats.InputFile;
import org.ddstore.formats.Layout;
import org.ddstore.formats.SampleColumn;
import org.ddstore.formats.SampleFormat;

/** The files of a read as a table, whose rows are ordered by file path and index in the file. */
final class SampleTable implements SupportsRead, SupportsMetadataColumns {
  private final DataSet data;

  private SampleTable(DataSet data) {
    this.data = data;
  }

  /**
   * Lists and inspects the files.
   *
   * @throws IllegalArgumentException if an option is illegal
   * @throws org.ddstore.formats.FormatException if a file cannot be read
   */
  static SampleTable plan(SampleFormat format, CaseInsensitiveStringMap options) {
    ReadOptions read = ReadOptions.of(format, options);
    format.check(read.options());
    SparkSession session = SparkSession.active();
    List<InputFile> files = new FileListing(format, read).list(session);
    List<FileFacts> facts = new Inspection(format, read.options()).of(files, session);
    if (facts.isEmpty()) {
      throw new IllegalArgumentException(
          "format %s: every file of %s is left out by the options"
              .formatted(format.name(), read.paths()));
    }
    Layout layout = format.layout(facts, read.options());
    return new SampleTable(
        new DataSet(format, read.options(), facts, select(layout, read), read.partitionBytes()));
  }

  /** Returns the layout; the columns that are not selected stay, for formats that count on them. */
  private static DataSet.Selection select(Layout layout, ReadOptions read) {
    List<String> names = layout.columns().stream().map(SampleColumn::name).toList();
    List<String> wanted = read.columns().isEmpty() ? names : read.columns();
    int[] ordinals = new int[wanted.size()];
    for (int i = 0; i < ordinals.length; i++) {
      String name = wanted.get(i);
      ordinals[i] = names.indexOf(name);
      if (ordinals[i] < 0) {
        throw new IllegalArgumentException(
            "option \"%s\": no column \"%s\" in the files; columns are %s"
                .formatted(ReadOptions.COLUMNS, name, names));
      }
    }
    return new DataSet.Selection(layout, null, ordinals);
  }

  List<FileFacts> files() {
    return data.files();
  }

  @Override
  public String name() {
    return "%s files of %s".formatted(data.format().name(), data.files().get(0).file().path());
  }

  @Override
  @SuppressWarnings("deprecation") // columns() are derived from it, and Spark 3.5 has both
  public StructType schema() {
    return new StructType(
        Arrays.stream(data.selection().ordinals())
            .mapToObj(ordinal -> data.selection().layout().columns().get(ordinal).sqlField())
            .toArray(StructField[]::new));
  }

  @Override
  public MetadataColumn[] metadataColumns() {
    return new MetadataColumn[] {PlaceVector.COLUMN};
  }

  @Override
  public Set<TableCapability> capabilities() {
    return EnumSet.of(TableCapability.BATCH_READ);
  }

  @Override
  public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
    return new SampleScanBuilder(data, schema());
  }

  @Override
  public String toString() {
    return data.selection().layout().columns().stream()
        .map(column -> column.name() + " " + column)
        .collect(Collectors.joining(", ", name() + ": ", ""));
  }
}
