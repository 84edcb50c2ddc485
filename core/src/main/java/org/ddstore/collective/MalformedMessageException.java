// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import org.ddstore.types.DDStoreException;
import org.ddstore.types.Internal;

/** Thrown for received bytes that are not a valid message of a collective. */
@Internal
public class MalformedMessageException extends DDStoreException {
  private static final long serialVersionUID = 1L;

  MalformedMessageException(String message) {
    super(message);
  }
}
