package org.ddstore.collective;

import java.nio.ByteBuffer;

/**
 * What one rank says to all others, as they read it: in the memory of the rank itself ({@link
 * LaneMemory}), or in a copy that messages keep up to date ({@link Mirror}). What was written
 * before a word is seen by whoever reads the word.
 *
 * <p><b>Two slots suffice</b> for the pieces: round n goes into the slot of round n - 2. A rank
 * puts it there only after it has seen that all ranks posted round n - 1, and a rank posts n - 1
 * only after it has read everything of n - 2. One slot would not do: a peer may still be reading n
 * - 1. The texts of calls alternate for the same reason.
 */
interface Lane {
  /** Bytes of one piece of a payload at most. */
  int SLOT_BYTES = 256 * 1024;

  /** Bytes of the text of a call at most; a longer one is cut. */
  int CALL_TEXT_BYTES = 508;

  /** Bytes of the message of a failure at most; a longer one is cut. */
  int FAILURE_TEXT_BYTES = 1000;

  /** Bytes of the text of an error that a rank posts in place of a piece, at most. */
  int ERROR_TEXT_BYTES = 800;

  long OPEN = 0;
  long BROKEN = 1;
  long CLOSED = 2;

  boolean hasPosted(long round);

  /** The call this rank is in or was in last; 0 before the first. */
  long entered();

  /** The call this rank completed last; 0 before the first. */
  long finished();

  long state();

  /**
   * Whether several threads of the rank have called collectives of its groups, since one was split
   * off: a call that one of them waits in does not keep the rank from others.
   */
  boolean hasSeveralThreads();

  /** Why the rank gave up; only once {@link #state()} is {@link #BROKEN}. */
  Failure failure();

  /** The text of call {@code call}, the last one entered or the one before. */
  String callText(long call);

  long call(long round);

  long digest(long round);

  /**
   * Bytes of the whole payload of which the round carries a piece; -1 - n if the rank's own work
   * threw and the piece is n bytes of text.
   */
  long totalBytes(long round);

  /** The piece of a round, from position 0 on, little-endian; only what the rank posted. */
  ByteBuffer piece(long round);
}
