// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.source;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.commons.io.FileUtils;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.ddstore.formats.FileReadException;
import org.ddstore.formats.Formats;
import org.ddstore.types.DDStoreException;

/**
 * Reads damaged copies of good files through the data source, without jobs of Spark. Each copy must
 * give rows or a clear error within a deadline. A copy that does not is printed with the stack
 * trace and stays in the folder, and the program ends with status 1.
 *
 * <p>Arguments: a folder of good files and folders, one for each data set, whose names end with the
 * suffix of their format; an empty folder for the copies; a number of seconds; a seed.
 */
final class FormatFuzz {
  /** The number of tasks of the smallest executor. */
  private static final int READERS = 2;

  private static final long DEADLINE_MS = 20_000;
  private static final int MAX_BATCHES = 40;

  private static final Pattern RAW =
      Pattern.compile("java\\.\\w+\\.\\w+(Exception|Error)|\\bnull$|Cannot invoke|cannot be cast");

  /** Good files by suffix: each suffix is chosen equally often. */
  private final List<List<Path>> good;

  private final Path work;
  private final long seed;
  private final AtomicLong next = new AtomicLong();
  private final AtomicInteger read = new AtomicInteger();
  private final Map<String, Integer> refused = new TreeMap<>();
  private int failed;

  private FormatFuzz(List<List<Path>> good, Path work, long seed) {
    this.good = good;
    this.work = work;
    this.seed = seed;
  }

  public static void main(String[] args) throws Exception {
    List<Path> good;
    try (Stream<Path> all = Files.list(Path.of(args[0]))) {
      good = all.sorted().filter(each -> Formats.of(each.toString()).isPresent()).toList();
    }
    long seed = Long.parseLong(args[3]);
    System.out.printf("seed %d, %d good files%n", seed, good.size());
    SparkSession.builder()
        .master("local[%d]".formatted(READERS))
        .config("spark.ui.enabled", "false")
        .config("spark.testing.memory", Long.toString(1L << 30)) // Spark refuses small heaps
        .getOrCreate()
        .sparkContext()
        .setLogLevel("OFF");
    List<List<Path>> bySuffix =
        List.copyOf(
            good.stream().collect(groupingBy(FormatFuzz::suffix, TreeMap::new, toList())).values());
    FormatFuzz fuzz = new FormatFuzz(bySuffix, Path.of(args[1]), seed);
    long end = System.nanoTime() + Long.parseLong(args[2]) * 1_000_000_000L;
    Thread[] readers = new Thread[READERS];
    for (int i = 0; i < READERS; i++) {
      readers[i] = new Thread(() -> fuzz.readUntil(end), "fuzz-" + i);
      readers[i].start();
    }
    for (Thread reader : readers) {
      reader.join();
    }
    System.out.printf(
        "%d damaged copies: %d read, refused: %s%n",
        fuzz.next.get(), fuzz.read.get(), fuzz.refused);
    System.exit(fuzz.failed == 0 ? 0 : 1);
  }

  private void readUntil(long end) {
    while (System.nanoTime() < end) {
      long number = next.getAndIncrement();
      Random random = new Random(seed * 1_000_003 + number);
      List<Path> ofSuffix = good.get(random.nextInt(good.size()));
      Path source = ofSuffix.get(random.nextInt(ofSuffix.size()));
      Path copy = work.resolve(number + "-" + source.getFileName());
      Thread self = Thread.currentThread();
      Thread watch = new Thread(() -> watch(self, copy), "watch");
      watch.setDaemon(true);
      try {
        copy(source, copy);
        Damage.damage(copy, random);
        watch.start();
        Throwable failure = read(copy, random);
        if (failure == null) {
          FileUtils.deleteQuietly(copy.toFile());
        } else {
          fail(copy, failure);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } finally {
        watch.interrupt();
      }
    }
  }

  /**
   * Returns what a reader must not throw; null if the file is read, or refused by a clear error.
   */
  private Throwable read(Path copy, Random random) {
    try {
      readAll(copy, random);
      read.incrementAndGet();
      return null;
    } catch (FileReadException e) {
      return e; // there is no failure of the file system
    } catch (DDStoreException | IllegalArgumentException e) {
      synchronized (refused) {
        refused.merge(suffix(copy), 1, Integer::sum);
      }
      return isClear(copy, e.getMessage()) ? null : e;
    } catch (Throwable e) {
      return e;
    }
  }

  private static String suffix(Path path) {
    return path.getFileName().toString().replaceFirst("^.*?(\\.|(?=idx))", "");
  }

  /** Returns whether a message names the file, and no exception of the JDK in place of a reason. */
  private static boolean isClear(Path copy, String message) {
    String name = copy.getFileName().toString();
    return message != null
        && message.contains(name.substring(0, name.indexOf('-')))
        && !RAW.matcher(message).find();
  }

  /** Reports a failure, and keeps the damaged file. */
  private void fail(Path copy, Throwable e) {
    synchronized (refused) {
      failed++;
      System.out.println("FAILED " + copy);
      e.printStackTrace(System.out);
    }
  }

  private void watch(Thread reader, Path copy) {
    try {
      Thread.sleep(DEADLINE_MS);
      Exception stalled = new Exception("not read within %d ms".formatted(DEADLINE_MS));
      stalled.setStackTrace(reader.getStackTrace());
      fail(copy, stalled);
      Runtime.getRuntime().halt(1);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // read in time
    }
  }

  private static void readAll(Path file, Random random) throws IOException {
    String format = Formats.of(file.toString()).orElseThrow().name();
    SampleTable table =
        SampleTable.plan(
            Formats.named(format).orElseThrow(),
            new CaseInsensitiveStringMap(Map.of("path", file.toString())));
    Batch batch = table.newScanBuilder(CaseInsensitiveStringMap.empty()).build().toBatch();
    InputPartition[] partitions = batch.planInputPartitions();
    int batches = 0;
    for (int i = 0; i < Math.min(2, partitions.length); i++) {
      InputPartition partition = partitions[i == 0 ? 0 : random.nextInt(partitions.length)];
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

  private static void copy(Path from, Path to) throws IOException {
    if (Files.isDirectory(from)) {
      FileUtils.copyDirectory(from.toFile(), to.toFile());
    } else {
      FileUtils.copyFile(from.toFile(), to.toFile());
    }
  }
}
