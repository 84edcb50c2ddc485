// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.util.Locale;

/** The ways that {@link PythonBench} reads rows, in the order of its table. */
enum PythonWay {
  JAVA_MAPPED("Java reader, mapped", null),
  PYTHON_MAPPED("get_batch(out=), mapped", JAVA_MAPPED),
  LOADER_MAPPED("torch.loader, mapped", JAVA_MAPPED),
  TAKE("numpy.take(out=)", JAVA_MAPPED),
  TAKE_CLIP("numpy.take, mode clip", JAVA_MAPPED),
  MEMMAP("numpy.memmap[rows]", JAVA_MAPPED),
  DATA_LOADER("DataLoader", JAVA_MAPPED),
  JAVA_PORTS("Java reader, ports", null),
  PYTHON_PORTS("get_batch(out=), ports", JAVA_PORTS),
  LOADER_PORTS("torch.loader, ports", JAVA_PORTS),
  JAVA_ROW("Java reader, one row", null),
  PYTHON_ROW("store[row], mapped", JAVA_ROW),
  MEMMAP_ROW("numpy.memmap[row]", JAVA_ROW),
  JAVA_SPARSE("Java reader, sparse", null),
  PYTHON_SPARSE("get_batch, sparse", JAVA_SPARSE),
  ANNBATCH("annbatch, rows", JAVA_SPARSE),
  ANNBATCH_CHUNKS("annbatch, chunks", JAVA_SPARSE);

  private final String words;
  private final PythonWay baseline;

  PythonWay(String words, PythonWay baseline) {
    this.words = words;
    this.baseline = baseline;
  }

  String words() {
    return words;
  }

  /** Returns the way of the Java reader that this one is compared with; that of Java is itself. */
  PythonWay baseline() {
    return isOfJava() ? this : baseline;
  }

  boolean isOfJava() {
    return baseline == null;
  }

  /** Returns the module that this needs besides NumPy, or null. */
  String module() {
    return switch (this) {
      case LOADER_MAPPED, LOADER_PORTS, DATA_LOADER -> "PyTorch";
      case ANNBATCH, ANNBATCH_CHUNKS -> "annbatch";
      default -> null;
    };
  }

  /** Returns whether each call reads one row instead of a batch. */
  boolean isOfOneRow() {
    return baseline() == JAVA_ROW;
  }

  /**
   * Returns the way of the Python package that reads the same rows from the same place; null for
   * those ways themselves and for Java.
   */
  PythonWay alternativeTo() {
    return switch (this) {
      case TAKE, TAKE_CLIP, MEMMAP, DATA_LOADER -> PYTHON_MAPPED;
      case MEMMAP_ROW -> PYTHON_ROW;
      case ANNBATCH, ANNBATCH_CHUNKS -> PYTHON_SPARSE;
      default -> null;
    };
  }

  /** Returns the name in requests and in JSON. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
