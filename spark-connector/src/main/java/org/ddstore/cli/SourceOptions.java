package org.ddstore.cli;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.ddstore.types.DDStoreException;
import picocli.CommandLine.Option;

/** Which columns of a Parquet data set become fields, and in which order, as a mixin. */
final class SourceOptions {
  /** A scheme, which only Spark can resolve, or a pattern. */
  private static final Pattern NOT_A_PLAIN_PATH =
      Pattern.compile("[a-zA-Z][\\w+.-]+:.*|.*[*?{\\[].*");

  @Option(
      names = "--fields",
      paramLabel = "COLUMN",
      split = ",",
      description = "Columns to load, all unless said; a.b is b inside the struct a.")
  private List<String> fields = new ArrayList<>();

  @Option(
      names = "--type",
      paramLabel = "NAME=TYPE[SHAPE]",
      converter = FieldType.Converter.class,
      description = {
        "Type and shape of a field, as in image=uint8[28,28], or points=float32[?,2] if its first"
            + " dimension varies.",
        "Arrays of arrays need it. May be given several times."
      })
  private List<FieldType> types = new ArrayList<>();

  @Option(
      names = "--order-by",
      paramLabel = "COLUMN",
      split = ",",
      description = {
        "Number the rows by these columns, ascending, ties by their place in the source.",
        "Without it: by file path and place in the file."
      })
  private List<String> orderBy = new ArrayList<>();

  /**
   * Says at once what Spark would say after it has started.
   *
   * @throws DDStoreException if there is surely nothing at {@code path}
   */
  static void checkExists(String path) {
    if (!EmbeddedSpark.isSubmitted()
        && !NOT_A_PLAIN_PATH.matcher(path).matches()
        && !Files.exists(Path.of(path))) {
      throw new DDStoreException("--input %s: no such file or directory".formatted(path));
    }
  }

  /** Empty for all columns. */
  List<String> fields() {
    return fields;
  }

  List<FieldType> types() {
    return types;
  }

  /** Empty for the order of the source. */
  List<String> orderBy() {
    return orderBy;
  }

  /** Declares a type as if the user had done so. */
  void addType(FieldType type) {
    if (types.stream().noneMatch(given -> given.column().equals(type.column()))) {
      types.add(type);
    }
  }
}
