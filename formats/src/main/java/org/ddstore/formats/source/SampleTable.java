// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.source;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
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
import org.ddstore.formats.FormatException;
import org.ddstore.formats.FormatOptionKeys;
import org.ddstore.formats.InputFile;
import org.ddstore.formats.Layout;
import org.ddstore.formats.LeftOutFiles;
import org.ddstore.formats.SampleColumn;
import org.ddstore.formats.SampleFormat;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The files of a read as a table, whose rows are ordered by file path and index in the file. */
final class SampleTable implements SupportsRead, SupportsMetadataColumns, LeftOutFiles.Owner {
  private static final Logger LOG = LoggerFactory.getLogger(SampleTable.class);
  private static final int LOGGED_FILES = 5;

  private final DataSet data;
  private final List<String> leftOut;

  private SampleTable(DataSet data, List<String> leftOut) {
    this.data = data;
    this.leftOut = List.copyOf(leftOut);
  }

  /** Lists and inspects the files. */
  static SampleTable plan(SampleFormat format, CaseInsensitiveStringMap options) {
    CommonOptions read = CommonOptions.of(format, options);
    format.check(read.options());
    SparkSession session = SparkSession.active();
    FileListing listing = new FileListing(format, read);
    List<InputFile> files = listing.list(session);
    List<FileFacts> facts = new Inspection(format, read.options()).of(files, session);
    if (facts.isEmpty()) {
      throw new IllegalArgumentException(
          "format %s: every file of %s is left out by the options"
              .formatted(format.name(), read.paths()));
    }
    List<String> leftOut = new ArrayList<>(leftOut(listing.leftOut(), files, facts));
    warn(format, leftOut, "files and reads %,d".formatted(facts.size()));
    List<String> inUnits = leftOutInUnits(format, facts);
    warn(format, inUnits, "or more files inside of folders");
    leftOut.addAll(inUnits);
    Layout layout = format.layout(facts, read.options());
    return new SampleTable(
        new DataSet(format, read.options(), facts, select(layout, read), read.partitionBytes()),
        leftOut);
  }

  private static void warn(SampleFormat format, List<String> leftOut, String kind) {
    if (!leftOut.isEmpty()) {
      LOG.warn(
          "format {} leaves out {} {}: {}{}",
          format.name(),
          leftOut.size(),
          kind,
          String.join(", ", leftOut.subList(0, Math.min(LOGGED_FILES, leftOut.size()))),
          leftOut.size() > LOGGED_FILES ? ", .." : "");
    }
  }

  private static List<String> leftOutInUnits(SampleFormat format, List<FileFacts> facts) {
    List<String> paths = new ArrayList<>();
    for (FileFacts unit : facts) {
      String prefix = unit.file().relativePath() + "/";
      format.leftOut(unit).forEach(path -> paths.add(prefix + path));
    }
    return paths;
  }

  /** Returns the relative paths of what the listing or the format has left out, in row order. */
  private static List<String> leftOut(
      List<InputFile> unlisted, List<InputFile> files, List<FileFacts> facts) {
    Set<String> kept = facts.stream().map(file -> file.file().path()).collect(Collectors.toSet());
    return Stream.concat(unlisted.stream(), files.stream())
        .filter(file -> !kept.contains(file.path()))
        .sorted(FileListing.ROW_ORDER)
        .map(file -> file.relativePath() + (file.isFolder() ? "/" : ""))
        .distinct()
        .toList();
  }

  @Override
  public List<String> leftOutFiles() {
    return leftOut;
  }

  /** Returns the layout; the columns that are not selected stay, for formats that count on them. */
  private static DataSet.Selection select(Layout layout, CommonOptions read) {
    if (read.columns().isEmpty()) {
      return DataSet.Selection.all(layout);
    }
    List<String> names = layout.columns().stream().map(SampleColumn::name).toList();
    List<String> wanted = read.columns();
    int[] ordinals = new int[wanted.size()];
    for (int i = 0; i < ordinals.length; i++) {
      String name = wanted.get(i);
      ordinals[i] = names.indexOf(name);
      if (ordinals[i] < 0) {
        throw new IllegalArgumentException(
            "option \"%s\", \"%s\": no such column: choose one of %s"
                .formatted(FormatOptionKeys.COLUMNS, name, names));
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
            .mapToObj(ordinal -> sqlField(data.selection().layout().columns().get(ordinal)))
            .toArray(StructField[]::new));
  }

  private StructField sqlField(SampleColumn column) {
    try {
      return column.sqlField();
    } catch (IllegalArgumentException e) { // more dimensions or a longer name than a field can have
      throw new FormatException(data.files().get(0).file().path(), e.getMessage(), e);
    }
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
