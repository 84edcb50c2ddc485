// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.source;

import java.io.Serializable;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.sql.types.StructType;
import org.ddstore.formats.FileFacts;
import org.ddstore.formats.FormatOptions;
import org.ddstore.formats.Layout;
import org.ddstore.formats.SampleFormat;

/**
 * The planned read of files.
 *
 * @param files files in row order
 * @param partitionBytes size of the values of one partition in memory, at least that of one run of
 *     rows
 */
record DataSet(
    SampleFormat format,
    FormatOptions options,
    List<FileFacts> files,
    Selection selection,
    long partitionBytes)
    implements Serializable {

  /**
   * The columns to read.
   *
   * @param layout columns of the data set
   * @param place fields of the column {@code _metadata}; null if it is not selected
   * @param ordinals ordinals of the selected columns in the layout; {@link #PLACE} for {@code
   *     _metadata}
   */
  @SuppressWarnings("ArrayRecordComponent") // selections are not compared
  record Selection(Layout layout, StructType place, int... ordinals) implements Serializable {
    static final int PLACE = -1;

    /** Returns the layout with all its columns selected. */
    static Selection all(Layout layout) {
      return new Selection(layout, null, IntStream.range(0, layout.columns().size()).toArray());
    }

    /** Returns the estimated size of the selected values of one row in bytes. */
    long rowBytes() {
      long bytes = 1;
      for (int ordinal : ordinals) {
        bytes += ordinal == PLACE ? 0 : layout.columns().get(ordinal).estimatedBytes();
      }
      return bytes;
    }
  }

  DataSet select(StructType place, int... ordinals) {
    return new DataSet(
        format, options, files, new Selection(selection.layout(), place, ordinals), partitionBytes);
  }
}
