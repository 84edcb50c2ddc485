// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.hdf5;

/** Thrown for content that cannot be read. {@link Hdf5File} adds the file and the object. */
final class Hdf5Exception extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private Hdf5Exception(String message) {
    super(message);
  }

  /** {@return the exception for content that contradicts the file format} */
  static Hdf5Exception damaged(String problem) {
    return new Hdf5Exception(problem + ": the file is damaged");
  }

  /** {@return the exception for a feature that is not supported} */
  static Hdf5Exception unsupported(String feature, String remedy) {
    return new Hdf5Exception("%s is not supported: %s".formatted(feature, remedy));
  }

  /** {@return an exception with a message that is complete} */
  static Hdf5Exception of(String message) {
    return new Hdf5Exception(message);
  }
}
