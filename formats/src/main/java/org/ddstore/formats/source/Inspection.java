// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.source;

import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.SparkSession;
import org.ddstore.formats.FileFacts;
import org.ddstore.formats.FileReadException;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.FormatOptions;
import org.ddstore.formats.InputFile;
import org.ddstore.formats.SampleFormat;
import org.ddstore.spark.failure.TaskFailedException;
import org.ddstore.spark.failure.TaskResults;
import org.ddstore.spark.task.JavaBytes;
import org.ddstore.spark.task.JobDescription;
import org.ddstore.types.DDStoreException;

/**
 * The facts of files: few are read on the driver; many, or files whose content is read, by a job on
 * the executors, whose memory the read will have.
 */
record Inspection(SampleFormat format, FormatOptions options) {
  /** Above this number a job is faster than the driver alone. */
  private static final int MAX_ON_DRIVER = 32;

  private static final int TASKS_PER_CORE = 4;

  /** Returns the facts of the files in the same order, without files that are left out. */
  List<FileFacts> of(List<InputFile> files, SparkSession session) {
    SampleFormat format = this.format;
    FormatOptions options = this.options;
    List<FileFacts> facts = new ArrayList<>();
    boolean isFast =
        files.size() <= MAX_ON_DRIVER
            && files.stream().noneMatch(file -> format.readsContentToInspect(file, options));
    if (isFast) {
      facts.addAll(inspectAll(format, files, options));
    } else {
      JavaSparkContext context = JavaSparkContext.fromSparkContext(session.sparkContext());
      int tasks = Math.min(files.size(), TASKS_PER_CORE * context.defaultParallelism());
      List<byte[]> shares = new ArrayList<>();
      for (int i = 0; i < tasks; i++) {
        int from = (int) ((long) i * files.size() / tasks);
        int end = (int) ((i + 1L) * files.size() / tasks);
        shares.add(JavaBytes.of(files.subList(from, end).toArray(new InputFile[0])));
      }
      List<FileFacts> found = inspectAll(context.parallelize(shares, tasks).rdd());
      for (int i = 0; i < files.size(); i++) {
        facts.add(found.get(i) == null ? null : of(files.get(i), found.get(i)));
      }
    }
    return facts.stream().filter(Objects::nonNull).toList();
  }

  /**
   * Returns the facts of shares of the files, null for those left out, by a job whose errors are
   * final.
   */
  private List<FileFacts> inspectAll(RDD<byte[]> shares) {
    SampleFormat format = this.format;
    FormatOptions options = this.options;
    String what = "metadata of %s files".formatted(format.name());
    try {
      return JobDescription.of(
          shares.sparkContext(),
          what,
          () ->
              TaskResults.of(
                      shares,
                      (task, share) ->
                          inspectAll(
                              format,
                              List.of((InputFile[]) JavaBytes.value(share.next())),
                              options))
                  .stream()
                  .flatMap(List::stream)
                  .toList());
    } catch (TaskFailedException e) {
      throw e.getCause() instanceof FormatException cause ? cause : e;
    }
  }

  /**
   * Returns facts with the file of this process in place of its copy from a task: Spark deletes the
   * configuration that was sent to the executors when the original of its handle is collected.
   */
  private static FileFacts of(InputFile original, FileFacts facts) {
    return new FileFacts(
        original,
        facts.rows(),
        facts.runRows(),
        facts.splitRows(),
        facts.columns(),
        facts.details());
  }

  private static List<FileFacts> inspectAll(
      SampleFormat format, List<InputFile> files, FormatOptions options) {
    List<FileFacts> facts = new ArrayList<>();
    files.forEach(file -> facts.add(inspect(format, file, options)));
    return facts;
  }

  private static FileFacts inspect(SampleFormat format, InputFile file, FormatOptions options) {
    try {
      return format.inspect(file, options);
    } catch (IOException e) {
      throw unreadable(file, e);
    }
  }

  /** Returns the exception to throw in place of one of the file system. */
  static DDStoreException unreadable(InputFile file, IOException cause) {
    if (cause instanceof FileNotFoundException
        || cause instanceof java.nio.file.NoSuchFileException) {
      return new FormatException(file.path(), "the file is gone since it was listed", cause);
    }
    if (cause instanceof EOFException end) {
      return FormatException.truncated(file.path(), end);
    }
    return new FileReadException(file.path(), cause);
  }
}
