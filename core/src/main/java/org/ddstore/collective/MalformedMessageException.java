package org.ddstore.collective;

import org.ddstore.types.DDStoreException;

/** What came over a connection is no message of a collective; nothing was changed by it. */
public class MalformedMessageException extends DDStoreException {
  private static final long serialVersionUID = 1L;

  MalformedMessageException(String message) {
    super(message);
  }
}
