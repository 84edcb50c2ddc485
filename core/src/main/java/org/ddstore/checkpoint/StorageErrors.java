// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;

/** Descriptions of failures of a storage, with the name of the failure and the path. */
final class StorageErrors {
  static final String REMEDY = "check the path, its permissions and its free space";

  private static final int MAX_CHARACTERS = 2000;

  private StorageErrors() {}

  /** Returns one line: HDFS appends the stack trace of its server to the message. */
  static String describe(IOException e) {
    String text = String.valueOf(e.getMessage()).strip();
    String message = text.lines().findFirst().orElse(e.getClass().getName());
    String line =
        e instanceof NoSuchFileException
            ? "no such file or directory: " + message
            : e instanceof AccessDeniedException
                ? "permission denied: " + message
                : e instanceof FileAlreadyExistsException
                    ? "exists already: " + message
                    : e instanceof NotDirectoryException
                        ? "not a directory: " + message
                        : e.getMessage() == null ? e.toString() : message;
    return line.substring(0, Math.min(MAX_CHARACTERS, line.length()));
  }

  static boolean isMissing(IOException e) {
    return e instanceof NoSuchFileException || e instanceof FileNotFoundException;
  }
}
