// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.ddstore.local.EmbeddedSpark;
import org.ddstore.types.DDStoreException;
import picocli.CommandLine.Option;

/** Options for the format of the files of {@code --input}, as a mixin. */
public final class InputOptions {
  /** A scheme, which only Spark can resolve, or a pattern. */
  private static final Pattern NOT_A_PLAIN_PATH =
      Pattern.compile("[a-zA-Z][\\w+.-]+:.*|.*[*?{\\[].*");

  @Option(
      names = "--format",
      paramLabel = "NAME",
      description = {
        "Format of --input: parquet, csv, json, orc, avro, npy, npz, idx, images, files, h5ad,"
            + " anndata, zarr, or another data source of Spark.",
        "By default the one that the name of --input, or of the first file in it, ends with;"
            + " else parquet."
      })
  String format; // null if it follows from the path

  @Option(
      names = "--read-option",
      paramLabel = "KEY=VALUE",
      description = {
        "Option of the format, as in size=64,64 for images. Can be repeated.",
        "CSV files have a header, types are inferred, and a damaged line of CSV or JSON is an error,"
            + " unless options say otherwise."
      })
  Map<String, String> readOptions = new LinkedHashMap<>();

  /**
   * Checks that a path exists, before Spark starts.
   *
   * @throws DDStoreException if {@code path} is a local path that does not exist
   */
  public static void checkExists(String path) {
    if (!EmbeddedSpark.isSubmitted()
        && !NOT_A_PLAIN_PATH.matcher(path).matches()
        && !Files.exists(Path.of(path))) {
      throw new DDStoreException("--input %s: no such file or directory".formatted(path));
    }
  }
}
