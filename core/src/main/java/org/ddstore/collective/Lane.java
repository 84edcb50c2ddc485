// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.nio.ByteBuffer;

/**
 * The data that one rank publishes to all others, as they read it: in the memory of the rank itself
 * ({@link LaneMemory}), or in a copy that messages keep up to date ({@link Mirror}). A reader of a
 * word also sees everything that was written before the word.
 *
 * <p><b>Two slots suffice</b> for the pieces: round n is written into the slot of round n - 2. A
 * rank writes it only after it has seen that all ranks posted round n - 1, and a rank posts round n
 * - 1 only after it has read everything of round n - 2. One slot would not suffice, because a peer
 * may still be reading round n - 1. The texts of calls alternate for the same reason.
 */
interface Lane {
  /** Largest size of one piece of a payload, in bytes. */
  int SLOT_BYTES = 256 * 1024;

  /** Largest size of the text of a call, in bytes; a longer text is truncated. */
  int CALL_TEXT_BYTES = 508;

  /** Largest size of the message of a failure, in bytes; a longer message is truncated. */
  int FAILURE_TEXT_BYTES = 1000;

  /** Largest size of the text of an error that a rank posts in place of a piece, in bytes. */
  int ERROR_TEXT_BYTES = 800;

  long OPEN = 0;
  long BROKEN = 1;
  long CLOSED = 2;

  boolean hasPosted(long round);

  /** Returns the call this rank is in or was in last; 0 before the first. */
  long entered();

  /** Returns the call this rank completed last; 0 before the first. */
  long finished();

  long state();

  /**
   * Returns whether several threads of the rank have called collectives of its groups since the
   * first split: a call in which one of them waits does not prevent the rank from calling others.
   */
  boolean hasSeveralThreads();

  /** Returns the failure that the rank announced, once {@link #state()} is {@link #BROKEN}. */
  Failure failure();

  String callText(long call);

  long call(long round);

  long digest(long round);

  /** Returns the bytes of a round's whole payload; -1 - n for an error with n bytes of text. */
  long totalBytes(long round);

  /** Returns the posted bytes of the piece of a round, from position 0 on, little-endian. */
  ByteBuffer piece(long round);
}
