// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.types;

import java.io.Serializable;
import java.util.Objects;

/**
 * A change of a resident store, or a run on it.
 *
 * @param timeMs time of its end, in milliseconds since 1970
 * @param store name of the store; empty for a run on rows that are not resident
 * @param kind kind of the event
 * @param text one human-readable line without the name of the store
 * @param rows number of rows concerned; 0 if unknown
 * @param bytes bytes of these rows; 0 if unknown
 * @param millis duration in milliseconds
 */
public record StoreEvent(
    long timeMs, String store, Kind kind, String text, long rows, long bytes, long millis)
    implements Serializable {
  private static final long serialVersionUID = 1L;

  /** The kinds of events. */
  public enum Kind {
    /** A store was loaded, restored or replaced. */
    LOAD,
    /** A task ran on all ranks. */
    RUN,
    /** Rows were added at the end. */
    APPEND,
    /** An executor ended with rows of the store. */
    LOSS,
    /** Lost rows were restored, or rows were copied from executors that are about to end. */
    REPAIR,
    /** The memory of the store was freed. */
    DROP,
    /** Readers outside of the application were allowed. */
    GRANT,
    /** A grant was ended. */
    REVOKE
  }

  /**
   * Checks that no part is null.
   *
   * @param timeMs time of its end, in milliseconds since 1970
   * @param store name of the store; empty for a run on rows that are not resident
   * @param kind kind of the event
   * @param text one human-readable line without the name of the store
   * @param rows number of rows concerned; 0 if unknown
   * @param bytes bytes of these rows; 0 if unknown
   * @param millis duration in milliseconds
   */
  public StoreEvent {
    Objects.requireNonNull(store, "store is null");
    Objects.requireNonNull(kind, "kind is null");
    Objects.requireNonNull(text, "text is null");
  }

  /**
   * {@return this event with another text}
   *
   * @param other one line
   */
  public StoreEvent withText(String other) {
    return new StoreEvent(timeMs, store, kind, other, rows, bytes, millis);
  }
}
