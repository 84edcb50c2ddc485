// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Option;

/** Options for the format of the files of {@code --input}, as a mixin. */
public final class InputOptions {
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
}
