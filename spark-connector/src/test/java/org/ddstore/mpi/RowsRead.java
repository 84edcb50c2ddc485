// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.DataInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.LongFunction;

/** The rows that a {@link RankProgram} has read, as it has written them. */
final class RowsRead {
  private static final int ROWS = 5000;

  private RowsRead() {}

  /**
   * Compares every byte that all ranks have read with what the numbers of the rows say.
   *
   * @param paths a pattern of the paths by which rows came with the shortcut
   */
  static void check(Path directory, int ranks, String paths) throws IOException {
    checkFiles(directory.resolve("shortcut"), ranks, paths);
    checkFiles(directory.resolve("transport"), ranks, "own 0, same host 0, remote " + ROWS);
  }

  private static void checkFiles(Path directory, int ranks, String paths) throws IOException {
    for (int rank = 0; rank < ranks; rank++) {
      check(directory.resolve("x-" + rank), paths, index -> RankProgram.row("x", index));
      check(directory.resolve("updated-" + rank), paths, index -> updated(ranks, index));
      String group = "g" + rank % 2;
      check(directory.resolve(group + "-" + rank), paths, index -> RankProgram.row(group, index));
    }
  }

  /** The first ten rows of each rank that has some are new. */
  private static byte[] updated(int ranks, long index) {
    long first = 0;
    for (int rank = 0; rank < ranks; rank++) {
      if (index >= first && index < first + Math.min(10, RankProgram.rowsOf(rank))) {
        return RankProgram.row("new", index);
      }
      first += RankProgram.rowsOf(rank);
    }
    return RankProgram.row("x", index);
  }

  /** The ranks held the same after the last of many stores as after the first of them. */
  static void checkHeld(Path directory, int ranks) throws IOException {
    for (int rank = 0; rank < ranks; rank++) {
      List<String> held = Files.readAllLines(directory.resolve("held-" + rank));
      assertThat(held).hasSize(2).first().asString().contains("rank " + rank, ", 0 stores]");
      assertThat(held.get(1)).as("what rank %d holds", rank).isEqualTo(held.get(0));
    }
  }

  private static void check(Path file, String paths, LongFunction<byte[]> expected)
      throws IOException {
    assertThat(Files.readString(file.resolveSibling(file.getFileName() + ".paths")))
        .as("paths of %s", file)
        .matches(paths);
    try (DataInputStream in = new DataInputStream(Files.newInputStream(file))) {
      for (int i = 0; i < ROWS; i++) {
        long index = in.readLong();
        assertThat(in.readNBytes(RankProgram.ROW_BYTES))
            .as("row %d, read as number %d of %s", index, i, file)
            .isEqualTo(expected.apply(index));
      }
      assertThat(in.read()).as("the end of %s", file).isEqualTo(-1);
    }
  }
}
