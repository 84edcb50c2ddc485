// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats;

import java.io.EOFException;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.PermanentFailure;

/**
 * Thrown for a file whose content a format cannot read: foreign, damaged, or of another shape than
 * the others. The message begins with the path of the file. Reading it again does not help.
 */
public final class FormatException extends DDStoreException implements PermanentFailure {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param file path of the file
   * @param problem what is wrong, and the remedy
   */
  public FormatException(String file, String problem) {
    super(file + ": " + problem);
  }

  /**
   * Creates an exception.
   *
   * @param file path of the file
   * @param problem what is wrong, and the remedy
   * @param cause cause of the problem
   */
  public FormatException(String file, String problem, Throwable cause) {
    super(file + ": " + problem, cause);
  }

  /**
   * Creates an exception about a part of a file.
   *
   * @param file path of the file
   * @param field column, array or attribute inside the file
   * @param problem what is wrong, and the remedy
   * @return the exception
   */
  public static FormatException of(String file, String field, String problem) {
    return new FormatException(file, field + ": " + problem);
  }

  /**
   * Creates an exception about a file that ends too early.
   *
   * @param file path of the file, and the object in it
   * @param cause failure of the read
   * @return the exception
   */
  public static FormatException truncated(String file, EOFException cause) {
    String detail = cause.getMessage() == null ? "" : ": " + cause.getMessage();
    return new FormatException(file, "truncated" + detail, cause);
  }
}
