// SPDX-License-Identifier: Apache-2.0
package org.ddstore.local;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;

/** A JSON writer based on Spark's Jackson; a separate class, because help runs without Spark. */
final class Json {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private Json() {}

  /** Returns one line of JSON for maps, lists, records and plain values. */
  static String write(Object object) {
    try {
      return MAPPER.writeValueAsString(object);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("cannot write as JSON: " + object, e);
    }
  }
}
