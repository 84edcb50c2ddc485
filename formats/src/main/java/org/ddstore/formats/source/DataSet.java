// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.source;

import java.io.Serializable;
import java.util.List;
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
   * @param ordinals ordinals of the selected columns in the layout
   */
  record Selection(Layout layout, int... ordinals) implements Serializable {
    /** Returns the estimated size of the selected values of one row in bytes. */
    long rowBytes() {
      long bytes = 1;
      for (int ordinal : ordinals) {
        bytes += layout.columns().get(ordinal).estimatedBytes();
      }
      return bytes;
    }
  }

  DataSet select(int... ordinals) {
    return new DataSet(format, options, files, new Selection(selection.layout(), ordinals), partitionBytes);
  }
}
