// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.chaos;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import java.util.Optional;

/**
 * A line from the driver of a round to the command.
 *
 * @param state what the driver does
 * @param step number of the step
 * @param operation the operation that the state is of
 * @param text failure of the operation, or null
 * @param findings problems that no fault excuses
 */
record Message(
    State state, int step, OperationKind operation, String text, List<Finding> findings) {
  private static final String PREFIX = "chaos ";
  private static final ObjectMapper MAPPER = new ObjectMapper();

  enum State {
    /** Waits for an answer before it begins an operation. */
    BEGIN,
    SUCCEEDED,
    FAILED,
    /** A read beside the operation of the step has succeeded. */
    READ_BESIDE,
    /** A read beside the operation of the step has failed. */
    FAILED_BESIDE,
    /** A read that ends because of the operation of the step. */
    ENDED_BESIDE,
    /** The operation could not be prepared, and is left out. */
    UNPREPARED,
    /** Has stopped Spark, and ends. */
    STOPPED
  }

  enum Problem {
    MISMATCH,
    HANG,
    ILLEGAL,
    LEFTOVER
  }

  record Finding(Problem problem, String text) {}

  String line() {
    try {
      return PREFIX + MAPPER.writeValueAsString(this);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("cannot write as JSON: " + this, e);
    }
  }

  /** Parses a line; empty if it is another output of the driver. */
  static Optional<Message> parse(String line) {
    if (!line.startsWith(PREFIX)) {
      return Optional.empty();
    }
    try {
      return Optional.of(MAPPER.readValue(line.substring(PREFIX.length()), Message.class));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("not a message of the driver: " + line, e);
    }
  }
}
