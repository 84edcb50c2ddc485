// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ui;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/**
 * The answer to a request for a page.
 *
 * @param status HTTP status
 * @param type content type, with its character set
 * @param body text of the answer
 */
record Answer(int status, String type, String body) {
  private static final int OK = 200;
  private static final int NOT_FOUND = 404;

  static Answer html(String body) {
    return new Answer(OK, "text/html;charset=utf-8", body);
  }

  static Answer json(String body) {
    return new Answer(OK, "application/json;charset=utf-8", body);
  }

  /** Returns text in the format of Prometheus. */
  static Answer metrics(String body) {
    return new Answer(OK, "text/plain;version=0.0.4;charset=utf-8", body);
  }

  static Answer notFound(String what) {
    return new Answer(NOT_FOUND, "text/plain;charset=utf-8", what);
  }

  /** Returns a text file of this package. */
  static Answer resource(String type, String file) {
    try (InputStream in = Answer.class.getResourceAsStream(file)) {
      return new Answer(OK, type + ";charset=utf-8", new String(in.readAllBytes(), UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(file, e);
    }
  }
}
