// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.cli.RankReadings.FieldText;
import org.ddstore.local.EmbeddedSpark;
import org.ddstore.local.Output;
import org.ddstore.local.Progress;
import org.ddstore.types.DDStoreException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command that prints records by global index. */
@Command(
    name = "get",
    mixinStandardHelpOptions = true,
    description = {
      "Prints records of a data set by global index. The records do not depend on the"
          + " number of ranks.",
      "In JSON, arrays are lists nested by the field's shape, bytes are base64, and NaN and"
          + " Infinity are strings. Dates and timestamps are the stored integers: days and"
          + " microseconds since 1970-01-01 UTC. Decimals are the numbers of their form."
    })
final class GetCommand implements Callable<Integer> {
  private static final int RANKS = 2;
  private static final int MAX_VALUE_CHARS = 400;

  @Option(
      names = "--indices",
      paramLabel = "0,5,10-19",
      required = true,
      converter = IndexRanges.Converter.class,
      description = "Global indices; a range includes both ends.")
  private IndexRanges ranges;

  @Mixin private InputPath path;
  @Mixin private SourceOptions source;
  @Mixin private ClusterOptions cluster;
  @Mixin private Output output;

  @Override
  public Integer call() {
    List<Long> indices = ranges.indices();
    String input = path.required();
    GetTask.Found found;
    try (Progress progress = Progress.ofSpark("get");
        EmbeddedSpark spark = cluster.open(RANKS, Map.of())) {
      progress.describe("load and read");
      Dataset<Row> files = InputFormat.read(spark.session(), input, path.options);
      found = cluster.on(Source.spec(files, source)).run(new GetTask(indices)).get(0);
    }
    for (long index : indices) {
      if (index < 0 || index >= found.rows()) {
        throw new DDStoreException(
            "index %d outside [0, %d) of %s".formatted(index, found.rows(), input));
      }
    }
    for (int i = 0; i < indices.size(); i++) {
      output.line("row " + indices.get(i));
      output.table("field, type, value", cells(found, i));
    }
    output.finish(0, found.fields(), Map.of("rows", rows(found, indices)));
    return 0;
  }

  private static List<List<String>> cells(GetTask.Found found, int record) {
    List<List<String>> cells = new ArrayList<>();
    for (FieldText field : found.fields()) {
      String value = String.valueOf(found.records().get(record).get(field.field()));
      boolean isLong = value.length() > MAX_VALUE_CHARS;
      cells.add(
          List.of(
              field.field(),
              field.type(),
              isLong ? value.substring(0, MAX_VALUE_CHARS) + " .. (--json prints all)" : value));
    }
    return cells;
  }

  private static List<Map<String, Object>> rows(GetTask.Found found, List<Long> indices) {
    List<Map<String, Object>> rows = new ArrayList<>();
    for (int i = 0; i < indices.size(); i++) {
      Map<String, Object> row = new LinkedHashMap<>();
      row.put("index", indices.get(i));
      row.put("record", found.records().get(i));
      rows.add(row);
    }
    return rows;
  }
}
