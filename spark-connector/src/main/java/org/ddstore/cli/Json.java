package org.ddstore.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;

/** Writes JSON with the library that Spark brings; a class of its own, for help needs no Spark. */
final class Json {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private Json() {}

  /** One line, of maps, lists, records and plain values. */
  static String write(Object object) {
    try {
      return MAPPER.writeValueAsString(object);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("not to be written as JSON: " + object, e);
    }
  }
}
