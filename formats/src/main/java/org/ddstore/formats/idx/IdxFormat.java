// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.idx;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.ddstore.formats.FileFacts;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.FormatOptionKeys;
import org.ddstore.formats.FormatOptions;
import org.ddstore.formats.InputFile;
import org.ddstore.formats.Layout;
import org.ddstore.formats.SampleColumn;
import org.ddstore.formats.SampleFormat;
import org.ddstore.formats.SampleReader;
import org.ddstore.formats.Values;
import org.ddstore.formats.source.CloseAll;

/**
 * Arrays in the IDX format; a row is an index of the first dimension. Images and labels whose names
 * belong together, as those of MNIST, are columns of the same rows. A file that is compressed by
 * gzip is one partition, which decompresses it once, in row order, and does not hold it in memory.
 */
public final class IdxFormat implements SampleFormat {
  private static final long serialVersionUID = 1L;

  private static final String PAIRED = "paired";
  private static final Pattern IMAGES =
      Pattern.compile("(.*)images([-.]idx)\\d+(-ubyte)(\\.gz)?", Pattern.CASE_INSENSITIVE);
  private static final Pattern LABELS_OF =
      Pattern.compile("(.*)labels([-.]idx)1(-ubyte)(\\.gz)?", Pattern.CASE_INSENSITIVE);

  @Override
  public String name() {
    return "idx";
  }

  @Override
  public String description() {
    return "arrays in the IDX format of MNIST, compressed by gzip or not";
  }

  @Override
  public List<String> suffixes() {
    return List.of(".idx", "-ubyte", ".idx.gz", "-ubyte.gz");
  }

  @Override
  public Set<String> options() {
    return Set.of(FormatOptionKeys.COLUMN, FormatOptionKeys.LABELS);
  }

  @Override
  public void check(FormatOptions options) {
    isPaired(options);
  }

  private static boolean isPaired(FormatOptions options) {
    return options.choice(FormatOptionKeys.LABELS, PAIRED, PAIRED, "none").equals(PAIRED);
  }

  @Override
  public boolean readsContentToInspect(InputFile file, FormatOptions options) {
    return IdxArray.isGzip(file);
  }

  @Override
  public FileFacts inspect(InputFile file, FormatOptions options) throws IOException {
    if (isPaired(options)) {
      Matcher labelsOf = LABELS_OF.matcher(file.name());
      if (labelsOf.matches() && sibling(file, imagesOf(labelsOf)).isPresent()) {
        return new FileFacts(file, 0, 1, List.of(), null); // a column of the images, see layout()
      }
      Matcher images = IMAGES.matcher(file.name());
      Optional<InputFile> labels =
          images.matches() ? sibling(file, labelsOf(images)) : Optional.empty();
      if (labels.isPresent()) {
        return pair(file, labels.get());
      }
    }
    String column = options.text(FormatOptionKeys.COLUMN).orElse("value");
    return facts(file, List.of(IdxArray.inspect(file, column)));
  }

  private static List<String> labelsOf(Matcher images) {
    return names(images, "labels", List.of("1"));
  }

  private static List<String> imagesOf(Matcher labels) {
    return names(labels, "images", List.of("3", "4", "2"));
  }

  /** Returns the possible names beside a file, one that is compressed as the file is first. */
  private static List<String> names(Matcher name, String kind, List<String> dimensions) {
    String zipped = name.group(name.groupCount());
    List<String> names = new ArrayList<>();
    for (String ending : zipped == null ? List.of("", ".gz") : List.of(zipped, "")) {
      for (String dimension : dimensions) {
        names.add(name.group(1) + kind + name.group(2) + dimension + name.group(3) + ending);
      }
    }
    return names;
  }

  /** Returns the first file of these names beside a file, or in a folder of its own name there. */
  private static Optional<InputFile> sibling(InputFile file, List<String> names)
      throws IOException {
    String beside = file.folderName().equals(file.name()) ? "../../" : "../";
    for (String name : names) {
      for (String path : List.of("../" + name, beside + name, beside + name + "/" + name)) {
        if (file.has(path) && !file.resolve(path).isFolder()) {
          return Optional.of(file.resolve(path));
        }
      }
    }
    return Optional.empty();
  }

  /** Returns the path of an array, which is the same for forms in which it can be twice. */
  private static String normalized(String path) {
    return path.toLowerCase(Locale.ROOT)
        .replaceAll("\\.gz$", "")
        .replaceAll("\\.(idx\\d-ubyte)$", "-$1")
        .replaceAll("/([^/]+)/\\1$", "/$1");
  }

  private static FileFacts pair(InputFile file, InputFile labels) throws IOException {
    IdxArray images = IdxArray.inspect(file, "image");
    IdxArray values = IdxArray.inspect(labels, "label");
    if (images.rows() != values.rows()) {
      throw new FormatException(
          labels.path(),
          "has %,d labels, but %s has %,d images: read them as separate arrays by option \"%s\" = none"
              .formatted(values.rows(), file.path(), images.rows(), FormatOptionKeys.LABELS));
    }
    return facts(file, List.of(images, values));
  }

  private static FileFacts facts(InputFile file, List<IdxArray> arrays) {
    int rows = arrays.get(0).rows();
    boolean isSliced = arrays.stream().noneMatch(IdxArray::isCompressed);
    List<SampleColumn> columns = arrays.stream().map(IdxArray::column).toList();
    return new FileFacts(
        file, rows, 1, isSliced ? 1 : Math.max(1, rows), columns, new ArrayList<>(arrays));
  }

  @Override
  public Layout layout(List<FileFacts> files, FormatOptions options) {
    Map<String, String> names = new HashMap<>();
    for (FileFacts facts : files) {
      String path = facts.file().path();
      String other = names.putIfAbsent(normalized(path), path);
      if (other != null) {
        throw new FormatException(path, "%s has the same data: load one of both".formatted(other));
      }
    }
    List<FileFacts> arrays = files.stream().filter(facts -> facts.details() != null).toList();
    if (arrays.isEmpty()) {
      throw new FormatException(
          files.get(0).file().path(),
          "has the labels of images beside it: load the images, or use option \"%s\" = none"
              .formatted(FormatOptionKeys.LABELS));
    }
    return Layout.ofEqual(arrays);
  }

  @Override
  public SampleReader open(FileFacts facts, Layout layout, FormatOptions options) {
    return new IdxReader(arrays(facts));
  }

  @SuppressWarnings("unchecked") // what facts(..) has put there
  private static List<IdxArray> arrays(FileFacts facts) {
    return (List<IdxArray>) facts.details();
  }

  /** A reader of one array, or of images and labels; it opens a file when its column is read. */
  private static final class IdxReader implements SampleReader {
    private final List<IdxArray> arrays;
    private final IdxArray.Reader[] readers;

    IdxReader(List<IdxArray> arrays) {
      this.arrays = arrays;
      this.readers = new IdxArray.Reader[arrays.size()];
    }

    @Override
    public Values read(int column, long from, int count) throws IOException {
      if (readers[column] == null) {
        readers[column] = arrays.get(column).open();
      }
      return readers[column].read(from, count);
    }

    @Override
    public void close() throws IOException {
      CloseAll.of(readers);
    }
  }
}
