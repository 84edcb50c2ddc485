// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import org.apache.spark.sql.SparkSession;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.RankContext;

/**
 * A driver whose ranks read each other's rows by MPI: in the first attempts until somebody ends
 * them, afterwards once. Each rank notes its process number under {@code <attempt>.<rank>}. Prints
 * what the ranks have returned. Arguments: master, ranks, the folder of the notes.
 */
final class LossProgram {
  /** Number of attempts that only end by the loss of a rank. */
  static final int LOSSES = 2;

  static final int ROWS = 1000;
  static final Duration READ_TIMEOUT = Duration.ofSeconds(5);

  private static final int BATCH = 50;

  private LossProgram() {}

  public static void main(String[] arguments) throws IOException {
    int ranks = Integer.parseInt(arguments[1]);
    String notes = arguments[2];
    try (SparkSession session =
        SparkSession.builder().master(arguments[0]).appName("loss").getOrCreate()) {
      List<String> results =
          DDStores.from(session.range(ROWS).selectExpr("id", "concat('t', id) as text"))
              .ranks(ranks)
              .transport("mpi")
              .shortcut(false)
              .readTimeout(READ_TIMEOUT)
              .collectiveTimeout(Duration.ofMinutes(1))
              .run(context -> read(context, notes));
      System.out.println(String.join(", ", results));
    }
  }

  private static String read(RankContext context, String notes) throws IOException {
    try (Reader reader = context.rows().reader()) {
      readAll(reader);
      note(Path.of(notes), context);
      while (context.attempt() <= LOSSES && !Thread.interrupted()) {
        readAll(reader);
      }
      readAll(reader);
    }
    return "attempt %d: rank %d has read all rows".formatted(context.attempt(), context.rank());
  }

  private static void readAll(Reader reader) {
    for (int first = 0; first < ROWS; first += BATCH) {
      long[] indices = new long[BATCH];
      for (int i = 0; i < BATCH; i++) {
        indices[i] = (first + i * 37L) % ROWS;
      }
      try (Batch batch = reader.getBatch(indices)) {
        for (int i = 0; i < BATCH; i++) {
          long id = batch.field("id").getLong(i);
          String text = batch.string("text", i);
          if (id != indices[i] || !text.equals("t" + id)) {
            throw new AssertionError("row %d is %d, %s".formatted(indices[i], id, text));
          }
        }
      }
    }
  }

  /** A note is there whole or not at all. */
  private static void note(Path notes, RankContext context) throws IOException {
    String name = context.attempt() + "." + context.rank();
    Path unfinished = Files.createTempFile(notes, "unfinished", "");
    Files.writeString(unfinished, context.host() + " " + ProcessHandle.current().pid());
    Files.move(unfinished, notes.resolve(name), StandardCopyOption.ATOMIC_MOVE);
  }
}
