// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats;

import java.io.IOException;
import java.io.Serializable;
import java.util.List;
import java.util.Set;

/**
 * A format of files that hold samples: it finds the files, determines their rows and columns, and
 * reads runs of rows. Implementations are found by {@link java.util.ServiceLoader}, have a public
 * constructor without parameters, and hold no state. All methods are local; they run on the driver
 * and on executors.
 */
public interface SampleFormat extends Serializable {
  /** {@return the name in {@code spark.read().format(..)}, in lower case} */
  String name();

  /** {@return a sentence for lists of formats, such as "NumPy arrays, one file each"} */
  String description();

  /** {@return suffixes of the files, such as {@code .npy}, in lower case; empty for any file} */
  List<String> suffixes();

  /**
   * {@return suffixes of the files in folders that a read lists; by default all of the format}
   *
   * @param options options of the read
   */
  default List<String> suffixes(FormatOptions options) {
    return suffixes();
  }

  /** {@return the keys of the options of this format, beside those of all formats} */
  Set<String> options();

  /**
   * Checks the values of the options, before any file is opened.
   *
   * @param options options of the read
   * @throws IllegalArgumentException if a value is illegal; the message names option, value and
   *     range
   */
  default void check(FormatOptions options) {}

  /**
   * {@return whether a folder is read as one unit instead of the files in it}
   *
   * @param folder folder to check
   * @param options options of the read
   * @throws IOException if the folder cannot be listed
   */
  default boolean isUnit(InputFile folder, FormatOptions options) throws IOException {
    return false;
  }

  /**
   * Reads what a plan must know of a file; called for many files at a time, on executors if there
   * are many.
   *
   * @param file file to inspect
   * @param options options of the read
   * @return rows and columns; null if the file is to be left out of the data set, which the options
   *     must allow
   * @throws FormatException if the file is not of this format, or is damaged
   * @throws IOException if the file cannot be read
   */
  FileFacts inspect(InputFile file, FormatOptions options) throws IOException;

  /**
   * {@return whether {@link #inspect} reads or decodes all of a file, so that it runs on executors,
   * with the memory that the read will have, also for few files}
   *
   * @param file file to inspect
   * @param options options of the read
   */
  default boolean readsContentToInspect(InputFile file, FormatOptions options) {
    return false;
  }

  /**
   * {@return the paths of files in a unit, relative to it, that the format has left out; not all if
   * they are many} A read warns of them.
   *
   * @param facts what {@link #inspect} has returned for the unit
   */
  default List<String> leftOut(FileFacts facts) {
    return List.of();
  }

  /**
   * {@return the columns of the data set} By default, all files must have the same columns.
   *
   * @param files all files, ordered by path; at least one
   * @param options options of the read
   * @throws FormatException if the files do not belong together
   */
  default Layout layout(List<FileFacts> files, FormatOptions options) {
    return Layout.ofEqual(files);
  }

  /**
   * Opens a file for one thread.
   *
   * @param facts what {@link #inspect} has returned for it
   * @param layout columns of the data set
   * @param options options of the read
   * @return the open file or reader
   * @throws FormatException if the file is not what it was
   * @throws IOException if the file cannot be read
   */
  SampleReader open(FileFacts facts, Layout layout, FormatOptions options) throws IOException;
}
