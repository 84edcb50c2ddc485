// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.source;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.ddstore.formats.FileReadException;
import org.ddstore.formats.FormatSpark;
import org.ddstore.formats.Formats;
import org.ddstore.types.DDStoreException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/**
 * Files of every format: each gives rows or a message that names it, in time and within the memory
 * of the JVM.
 */
class FormatBytesFuzzTest {
  private static final Duration DEADLINE = Duration.ofSeconds(20);
  private static final int MAX_BATCHES = 40;
  private static final int CHUNK_BYTES = 64;

  /** A reason that is an exception of the JDK. */
  private static final Pattern RAW =
      Pattern.compile("java\\.\\w+\\.\\w+(Exception|Error)|\\bnull$|Cannot invoke|cannot be cast");

  @TempDir private static Path folder;

  @BeforeAll
  static void start() {
    FormatSpark.session();
  }

  @FuzzTest
  void numpy(byte[] bytes) throws IOException {
    readFile(bytes, first(bytes) == 'P' ? "npz" : "npy");
  }

  @FuzzTest
  void idx(byte[] bytes) throws IOException {
    readFile(bytes, first(bytes) == 0x1f ? "idx.gz" : "idx");
  }

  @FuzzTest
  void image(byte[] bytes) throws IOException {
    readFile(bytes, first(bytes) == 0x89 ? "png" : "jpg");
  }

  @FuzzTest
  void h5ad(byte[] bytes) throws IOException {
    readFile(bytes, "h5ad");
  }

  /** The metadata of an array of version 2 or 3, beside chunks of zeros. */
  @FuzzTest
  void zarr(byte[] metadata) throws IOException {
    Path array = folder.resolve("fuzz.zarr");
    boolean isV3 = new String(metadata, UTF_8).contains("node_type");
    Files.createDirectories(array.resolve("c/0"));
    Files.deleteIfExists(array.resolve(isV3 ? ".zarray" : "zarr.json"));
    Files.write(array.resolve(isV3 ? "zarr.json" : ".zarray"), metadata);
    for (String chunk : new String[] {"0.0", "c/0/0"}) {
      Files.write(array.resolve(chunk), new byte[CHUNK_BYTES]);
    }
    read(array, metadata);
  }

  private static int first(byte[] bytes) {
    return bytes.length == 0 ? -1 : bytes[0] & 0xff;
  }

  private static void readFile(byte[] bytes, String suffix) throws IOException {
    read(Files.write(folder.resolve("fuzz." + suffix), bytes), bytes);
  }

  private static void read(Path file, byte[] content) throws IOException {
    long begin = System.nanoTime();
    try {
      readAll(file);
    } catch (FileReadException e) {
      throw new AssertionError("the file system did not fail", e);
    } catch (DDStoreException | IllegalArgumentException e) {
      Matcher raw = RAW.matcher(e.getMessage());
      if (!e.getMessage().contains("fuzz")
          || (raw.find()
              && !new String(content, ISO_8859_1).contains(raw.group()))) { // a quotation
        throw new AssertionError("an unclear message", e);
      }
    }
    long took = System.nanoTime() - begin;
    if (took > DEADLINE.toNanos()) {
      throw new AssertionError("read in %,d ns".formatted(took));
    }
  }

  private static void readAll(Path file) throws IOException {
    SampleTable table =
        SampleTable.plan(
            Formats.of(file.toString()).orElseThrow(),
            new CaseInsensitiveStringMap(Map.of("path", file.toString())));
    Batch batch = table.newScanBuilder(CaseInsensitiveStringMap.empty()).build().toBatch();
    InputPartition[] partitions = batch.planInputPartitions();
    int batches = 0;
    for (int p = 0; p < Math.min(2, partitions.length); p++) {
      InputPartition partition = partitions[p == 0 ? 0 : partitions.length - 1];
      try (PartitionReader<ColumnarBatch> reader =
          batch.createReaderFactory().createColumnarReader(partition)) {
        while (batches++ < MAX_BATCHES && reader.next()) {
          ColumnarBatch rows = reader.get();
          for (int c = 0; c < rows.numCols(); c++) {
            rows.getRow(rows.numRows() - 1).get(c, rows.column(c).dataType()); // decodes the column
          }
        }
      }
    }
  }
}
