// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.List;
import java.util.Locale;
import org.ddstore.benchmarks.report.Figure;

/** A way in which DLIO reads the samples. */
enum DlioWay {
  /** Whole batches by threads of the process. */
  LOADER(
      Figure.DDSTORE,
      "data_loader_classname: ddstore.dlio.StoreDataLoader",
      "data_loader_sampler: none"),

  /** Single rows by the worker processes of DLIO's loader. */
  READER("ddstore rows in dlio's loader", "reader_classname: ddstore.dlio.StoreReader"),

  /** Single files by the worker processes of DLIO's loader. */
  FILES("dlio's own reader on files");

  private final String words;

  @SuppressWarnings("ImmutableEnumChecker") // lists of List.of
  private final List<String> classes;

  DlioWay(String words, String... classes) {
    this.words = words;
    this.classes = List.of(classes);
  }

  /** Returns the lines of DLIO's section {@code reader} that name classes of ddstore. */
  List<String> classes() {
    return classes;
  }

  boolean isOfStore() {
    return this != FILES;
  }

  /** Returns the name in a report. */
  String words() {
    return words;
  }

  /** Returns the name on the command line and in JSON. */
  @Override
  @JsonValue
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
