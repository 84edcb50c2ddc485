// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.sql.DataFrameReader;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.ddstore.formats.FormatOptions;
import org.ddstore.formats.Formats;
import org.ddstore.formats.InputFile;
import org.ddstore.formats.SampleFormat;
import org.ddstore.types.DDStoreException;

/** A reader of {@code --input}; separate because options load without Spark. */
final class InputFormat {
  private static final String PARQUET = "parquet";
  private static final String CSV = "csv";
  private static final String JSON = "json";

  /** Formats of Spark itself by the ends of names. */
  private static final Map<String, String> OF_SPARK =
      Map.ofEntries(
          Map.entry(".parquet", PARQUET),
          Map.entry(".csv", CSV),
          Map.entry(".csv.gz", CSV),
          Map.entry(".json", JSON),
          Map.entry(".jsonl", JSON),
          Map.entry(".ndjson", JSON),
          Map.entry(".json.gz", JSON),
          Map.entry(".jsonl.gz", JSON),
          Map.entry(".orc", "orc"),
          Map.entry(".avro", "avro"));

  /** The sources of files that give each row its file and block only in their first version. */
  static final String V1_SOURCES = "parquet,csv,json,orc,avro";

  private InputFormat() {}

  /**
   * Returns the rows of the files.
   *
   * @throws DDStoreException if the format is unknown
   */
  static Dataset<Row> read(SparkSession spark, String path, InputOptions options) {
    String format = options.format == null ? of(spark, path) : options.format;
    DataFrameReader reader = spark.read().format(format);
    if (format.equalsIgnoreCase(CSV)) {
      reader.option("header", true).option("inferSchema", true);
      // Else the headers of files are not compared, or only at the selected columns.
      reader.option("enforceSchema", false).option("columnPruning", false);
    }
    if (format.equalsIgnoreCase(CSV) || format.equalsIgnoreCase(JSON)) {
      reader.option("mode", "FAILFAST"); // else a damaged line is a row of nulls
    }
    try {
      Dataset<Row> rows = reader.options(options.readOptions).load(path);
      if (rows.columns().length == 0) {
        throw new DDStoreException(
            "--input %s: no column in the %s files: they are empty, choose others"
                .formatted(path, format));
      }
      return rows;
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) { // of Scala, which declares none
      throw new DDStoreException(
          e instanceof ClassNotFoundException
              ? "--format %s: no such data source on the class path; legal values: %s"
                  .formatted(format, legalFormats())
              : "--input %s: cannot be read as %s: %s%s"
                  .formatted(
                      path, format, ErrorReport.firstLine(e), remedy(spark, path, format, options)),
          e);
    }
  }

  /** Files whose names tell no format are taken for Parquet. */
  private static String remedy(
      SparkSession spark, String path, String format, InputOptions options) {
    if (format.equalsIgnoreCase(JSON)) {
      // With multiLine, Spark would read no more than the first of several values in lines.
      boolean opens =
          spark.read().textFile(path).filter("trim(value) <> ''").limit(1).collectAsList().stream()
              .anyMatch(line -> line.strip().matches("[\\[{]|.*[\\[{,]"));
      return opens
          ? "; values over several lines need --read-option multiLine=true"
          : "; --read-option mode=DROPMALFORMED leaves damaged lines out";
    }
    return options.format == null && byName(path).isEmpty()
        ? "; the name tells no format: set --format to one of " + legalFormats()
        : "";
  }

  private static String legalFormats() {
    return Stream.concat(OF_SPARK.values().stream(), Formats.all().stream().map(SampleFormat::name))
        .distinct()
        .sorted()
        .collect(Collectors.joining(", "));
  }

  /** Returns the format of a path, or of the first file in it. */
  private static String of(SparkSession spark, String path) {
    return byName(path).or(() -> ofContent(spark, path)).orElse(PARQUET);
  }

  /** Returns whether all formats are read by Spark, which reads every file of a folder. */
  static boolean areOfSpark(Collection<String> formats) {
    return OF_SPARK.values().containsAll(formats);
  }

  /** Returns the format that the end of a name tells. */
  static Optional<String> byName(String path) {
    String name = path.toLowerCase(Locale.ROOT).replaceAll("/+$", "");
    return OF_SPARK.keySet().stream()
        .filter(name::endsWith)
        .max(Comparator.comparing(String::length))
        .map(OF_SPARK::get)
        .or(() -> Formats.of(name).map(SampleFormat::name));
  }

  private static Optional<String> ofContent(SparkSession spark, String path) {
    try {
      for (InputFile match :
          InputFile.matching(path, () -> spark.sparkContext().hadoopConfiguration())) {
        Optional<String> found = ofFile(match);
        if (found.isPresent()) {
          return found;
        }
      }
    } catch (FileNotFoundException e) {
      throw new DDStoreException("--input %s".formatted(e.getMessage()), e);
    } catch (IOException e) {
      throw new DDStoreException("--input %s: cannot be listed: %s".formatted(path, e), e);
    }
    return Optional.empty();
  }

  private static Optional<String> ofFile(InputFile file) throws IOException {
    Optional<String> named = byName(file.name());
    if (named.isPresent() || !file.isFolder()) {
      return named;
    }
    for (SampleFormat format : Formats.all()) {
      if (format.isUnit(file, new FormatOptions(Map.of()))) {
        return Optional.of(format.name());
      }
    }
    List<InputFile> children =
        file.children().stream()
            .filter(child -> !InputFile.isHidden(child.name()))
            .filter(child -> !child.isFolder() || !child.name().startsWith("_"))
            .sorted(Comparator.comparing(InputFile::path))
            .toList();
    for (InputFile child : children) {
      Optional<String> found = ofFile(child);
      if (found.isPresent()) {
        return found;
      }
    }
    return Optional.empty();
  }
}
