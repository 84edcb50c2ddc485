// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.image;

/** The image may be sound, but needs more memory or time than a task may use. */
final class LargeImageException extends BrokenImageException {
  private static final long serialVersionUID = 1L;

  LargeImageException(String problem) {
    super(problem);
  }
}
