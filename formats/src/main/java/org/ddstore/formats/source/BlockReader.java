// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.source;

import java.io.IOException;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.ddstore.formats.ElementType;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.FormatOptions;
import org.ddstore.formats.InputFile;
import org.ddstore.formats.ReadBudget;
import org.ddstore.formats.SampleColumn;
import org.ddstore.formats.SampleFormat;
import org.ddstore.formats.SampleReader;
import org.ddstore.formats.Values;

/**
 * A reader of one partition as batches of about 512 KiB. A column is decoded when its first value
 * is read, so skipped rows cost nothing, nor does a count. A batch is valid until the next one.
 */
final class BlockReader implements PartitionReader<ColumnarBatch> {
  /** Fits into the cache of a core, with its copies on the way to a record. */
  private static final long BLOCK_BYTES = 512 << 10;

  private static final int MAX_ROWS = 4096;

  private final SampleFormat format;
  private final FormatOptions options;
  private final DataSet.Selection selection;
  private final Iterator<SamplePartition.Run> runs;
  private final long rowsPerBlock;
  private SamplePartition.Run run;
  private SampleReader reader;
  private long nextRow;
  private long block;
  private int rows;
  private ColumnarBatch batch;

  BlockReader(
      SampleFormat format,
      FormatOptions options,
      DataSet.Selection selection,
      List<SamplePartition.Run> runs) {
    this.format = format;
    this.options = options;
    this.selection = selection;
    this.runs = runs.iterator();
    this.rowsPerBlock = Math.max(1, Math.min(MAX_ROWS, BLOCK_BYTES / selection.rowBytes()));
  }

  @Override
  public boolean next() throws IOException {
    nextRow += rows;
    rows = 0;
    while (run == null || nextRow == run.from() + run.count()) {
      if (reader != null) {
        run.file().file().requireUnchanged();
      }
      closeFile();
      if (!runs.hasNext()) {
        return false;
      }
      run = runs.next();
      nextRow = run.from();
    }
    int step = run.file().runRows();
    // A block is several runs of rows, or a part of one, which its reader keeps decoded.
    long end =
        step >= rowsPerBlock
            ? Math.min(nextRow + rowsPerBlock, (nextRow / step + 1) * step)
            : nextRow + rowsPerBlock / step * step;
    rows = (int) (Math.min(end, run.from() + run.count()) - nextRow);
    block++;
    requireRoom();
    ColumnVector[] columns = new ColumnVector[selection.ordinals().length];
    for (int i = 0; i < columns.length; i++) {
      columns[i] = column(selection.ordinals()[i]);
    }
    batch = new ColumnarBatch(columns, rows);
    return true;
  }

  private ColumnVector column(int ordinal) {
    if (ordinal == DataSet.Selection.PLACE) {
      InputFile file = run.file().file();
      return new PlaceVector(selection.place(), file.path(), file.name(), nextRow, rows);
    }
    long from = nextRow;
    int count = rows;
    long blockNumber = block;
    return new LazyVector(
        selection.layout().columns().get(ordinal), () -> read(ordinal, from, count, blockNumber));
  }

  @Override
  public ColumnarBatch get() {
    return batch;
  }

  private Values read(int ordinal, long from, int count, long blockNumber) {
    if (blockNumber != block) {
      throw new IllegalStateException(
          "values of a batch are read after the next one was asked for");
    }
    SampleColumn column = selection.layout().columns().get(ordinal);
    try {
      if (reader == null) {
        reader = format.open(run.file(), selection.layout(), options);
      }
      Values values = reader.read(ordinal, from, count);
      if (values.rows() != count) {
        throw new IllegalStateException(
            "format %s read %d rows instead of %d".formatted(format.name(), values.rows(), count));
      }
      return values;
    } catch (IOException e) {
      throw Inspection.unreadable(run.file().file(), e);
    } catch (ArithmeticException e) { // a value that the SQL type does not contain
      throw FormatException.of(run.file().file().path(), "column " + column.name(), e.getMessage());
    }
  }

  /**
   * Checks the memory of a batch of one row, as others are small, before anything is allocated for
   * it: the bytes of its values in the file, and the arrays that Spark reads. Formats check texts
   * and ragged values.
   */
  private void requireRoom() {
    if (rows > 1) {
      return;
    }
    String file = run.file().file().path();
    long heldBytes = 0;
    for (int ordinal : selection.ordinals()) {
      SampleColumn column =
          ordinal == DataSet.Selection.PLACE ? null : selection.layout().columns().get(ordinal);
      if (column == null || column.isRagged() || column.type() == ElementType.TEXT) {
        continue;
      }
      long inFile = column.estimatedBytes();
      int elementBytes = column.isBinary() ? 1 : column.type().sqlType().defaultSize();
      long inSpark = (long) column.elements() * elementBytes;
      if (Math.max(inFile, inSpark) > ReadBudget.MAX_ARRAY_LENGTH) {
        throw FormatException.of(
            file,
            "column " + column.name(),
            "one value of %s has %,d bytes, the limit is %,d: divide the values into smaller ones"
                .formatted(column, Math.max(inFile, inSpark), ReadBudget.MAX_ARRAY_LENGTH));
      }
      heldBytes += inFile + inSpark;
      ReadBudget.requireHeld(
          file, "column %s: a row with a value of %s".formatted(column.name(), column), heldBytes);
    }
  }

  private void closeFile() throws IOException {
    if (reader != null) {
      SampleReader closed = reader;
      reader = null;
      closed.close();
    }
  }

  @Override
  public void close() throws IOException {
    closeFile();
  }
}
