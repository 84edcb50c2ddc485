// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.image;

import java.io.IOException;

/** The bytes are not an image that can be decoded. */
class BrokenImageException extends IOException {
  private static final long serialVersionUID = 1L;

  BrokenImageException(String problem) {
    super(problem);
  }

  BrokenImageException(String problem, Throwable cause) {
    super(problem, cause);
  }
}
