// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import java.io.IOException;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.ddstore.formats.FileFacts;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.FormatOptionKeys;
import org.ddstore.formats.Layout;
import org.ddstore.formats.SampleColumn;
import org.ddstore.formats.anndata.ColumnSource.Part;

/**
 * Files that are read as one data set: their genes are joined, and columns of obs that some files
 * lack are null there, if the options say so.
 */
record Collection(List<FileFacts> files, AnnDataOptions options) {
  private static final Comparator<String> CODE_POINTS =
      Comparator.comparing(name -> name.getBytes(StandardCharsets.UTF_8), Arrays::compareUnsigned);

  /**
   * The plan by which the files are read.
   *
   * @param sources places of the values of each column
   * @param genes positions of a file's genes among those of the data set, by the digest of the
   *     genes
   */
  record Plan(List<ColumnSource> sources, Map<String, GeneMap> genes) implements Serializable {}

  private static FormatException problem(FileFacts file, String part, String problem) {
    return FormatException.of(file.file().path(), part, problem);
  }

  private static FileParts parts(FileFacts file) {
    return (FileParts) file.details();
  }

  /** Returns the columns of the data set; those of the same name must have one type. */
  Layout layout() throws IOException {
    Map<String, GeneMap> maps = new HashMap<>();
    int width = 0;
    if (options.hasMatrix()) {
      Map<String, List<String>> distinct = distinctGenes();
      List<String> joined = joined(distinct);
      width = joined.size();
      distinct.forEach((digest, genes) -> maps.put(digest, GeneMap.of(genes, joined)));
    }
    Map<String, SampleColumn> columns = new LinkedHashMap<>();
    Map<String, ColumnSource> sources = new HashMap<>();
    for (FileFacts file : files) {
      for (int i = 0; i < file.columns().size(); i++) {
        ColumnSource source = parts(file).sources().get(i);
        SampleColumn column = file.columns().get(i);
        if (source.part() == Part.DENSE) {
          column = SampleColumn.fixed(column.name(), column.type(), width);
        }
        ColumnSource known = sources.putIfAbsent(column.name(), source);
        SampleColumn first = columns.putIfAbsent(column.name(), column);
        if (first != null) {
          requireEqual(known, source, first, column, file);
          if (column.isNullable()) {
            columns.put(column.name(), first.orNull());
          }
        }
      }
    }
    if (columns.isEmpty()) {
      throw new IllegalArgumentException(
          "the options x, obs, layers and obsm select no column: change one of them");
    }
    requireSelected(columns.keySet());
    for (FileFacts file : files) {
      fillMissing(file, columns, sources);
      requireEqualCodes(file);
    }
    requireDistinct(columns.keySet());
    return new Layout(
        new ArrayList<>(columns.values()),
        new Plan(columns.keySet().stream().map(sources::get).toList(), maps));
  }

  private void requireEqual(
      ColumnSource known,
      ColumnSource source,
      SampleColumn first,
      SampleColumn column,
      FileFacts file) {
    if (!known.equals(source)) {
      throw problem(
          file,
          source.place(),
          "has the column name \"%s\" of %s: select one of them"
              .formatted(column.name(), known.place()));
    }
    if (!first.orNull().equals(column.orNull())) {
      throw problem(
          file,
          source.place(),
          "is %s, but %s in files before it: convert the files to one type, or read them one by one"
              .formatted(column, first));
    }
  }

  private void fillMissing(
      FileFacts file, Map<String, SampleColumn> columns, Map<String, ColumnSource> sources) {
    List<ColumnSource> present = parts(file).sources();
    for (Map.Entry<String, SampleColumn> column : columns.entrySet()) {
      ColumnSource source = sources.get(column.getKey());
      if (present.contains(source)) {
        continue;
      }
      if (!source.part().isTable()) {
        throw problem(
            file,
            source.place(),
            "has no column \"%s\", but other files have: set the option x to dense or sparse if the files differ in this, or select what all have"
                .formatted(column.getKey()));
      }
      if (!options.missingIsNull()) {
        throw problem(
            file,
            source.place(),
            "missing, but other files have it: set the option %s to null, or select columns by %s"
                .formatted(FormatOptionKeys.MISSING, FormatOptionKeys.OBS));
      }
      column.setValue(column.getValue().orNull());
    }
  }

  private void requireSelected(Set<String> columns) {
    for (String name : options.obs().all() ? List.<String>of() : options.obs().names()) {
      if (!columns.contains(name)) {
        throw problem(
            files.get(0),
            "obs/" + name,
            "missing in all files, but selected by the option \"%s\""
                .formatted(FormatOptionKeys.OBS));
      }
    }
  }

  private void requireEqualCodes(FileFacts file) {
    parts(file)
        .codes()
        .forEach(
            (column, digest) -> {
              for (FileFacts other : files) {
                String found = parts(other).codes().get(column);
                if (found != null && !found.equals(digest)) {
                  throw problem(
                      other,
                      "obs/" + column,
                      "has other categories than %s, so codes have different meanings: set the option %s to text"
                          .formatted(file.file().path(), FormatOptionKeys.CATEGORICALS));
                }
              }
            });
  }

  private void requireDistinct(Set<String> names) {
    Set<String> lower = new HashSet<>();
    for (String name : names) {
      if (!lower.add(name.toLowerCase(Locale.ROOT))) {
        throw problem(
            files.get(0),
            "column " + name,
            "two columns have this name, which Spark compares without case: select columns by the"
                + " option "
                + FormatOptionKeys.OBS);
      }
    }
  }

  /** {@return the genes of the data set in the order of the columns of X} */
  List<String> genes() throws IOException {
    return joined(distinctGenes());
  }

  /**
   * Returns the lists of genes by their digests, in the order of the files that have them first.
   */
  private Map<String, List<String>> distinctGenes() throws IOException {
    Map<String, List<String>> distinct = new LinkedHashMap<>();
    for (FileFacts file : files) {
      String digest = parts(file).genes();
      if (!distinct.containsKey(digest)) {
        try (AnnDataFile open = AnnDataFile.open(file.file(), options)) {
          distinct.put(digest, open.genes());
        }
      }
    }
    return distinct;
  }

  /**
   * Joins genes as AnnData's concat does: the common genes in the order of the first file; or those
   * of all files, ordered by their code points. Equal lists stay as they are.
   */
  private List<String> joined(Map<String, List<String>> distinct) {
    List<List<String>> lists = List.copyOf(distinct.values());
    if (lists.size() == 1) {
      return lists.get(0);
    }
    distinct.forEach(this::requireUnique);
    Set<String> joined = new LinkedHashSet<>(lists.get(0));
    for (List<String> other : lists) {
      if (options.outer()) {
        joined.addAll(other);
      } else {
        joined.retainAll(new HashSet<>(other));
      }
    }
    if (joined.isEmpty()) {
      throw problem(
          files.get(0),
          "var",
          "the files have no gene in common: set the option %s to outer"
              .formatted(FormatOptionKeys.JOIN));
    }
    List<String> ordered = new ArrayList<>(joined);
    if (options.outer()) {
      ordered.sort(CODE_POINTS);
    }
    return ordered;
  }

  private void requireUnique(String digest, List<String> genes) {
    Set<String> seen = new HashSet<>();
    for (String gene : genes) {
      if (!seen.add(gene)) {
        FileFacts file =
            files.stream().filter(one -> parts(one).genes().equals(digest)).findFirst().get();
        throw problem(
            file,
            "var",
            "gene \"%s\" occurs twice, so files cannot be joined by genes: call var_names_make_unique() and write the file again"
                .formatted(gene));
      }
    }
  }
}
