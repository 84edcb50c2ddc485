// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import org.ddstore.types.CollectiveInterruptedException;
import org.ddstore.types.CollectiveMismatchException;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.RankFailedException;
import org.ddstore.types.RankLostException;

/**
 * The reason why a group broke, in the form that is sent between ranks.
 *
 * @param rank rank that caused it; for {@link Kind#DEADLINE} the first missing rank
 * @param message message without the call of the rank that throws it
 */
record Failure(Kind kind, int rank, String message) {
  enum Kind {
    RANK_FAILED(1),
    MISMATCH(2),
    LOST(3),
    DEADLINE(4),
    INTERRUPTED(5);

    private final int code;

    Kind(int code) {
      this.code = code;
    }

    int code() {
      return code;
    }

    /** Returns the kind of a code; the most general kind for an unknown code. */
    static Kind ofCode(int code) {
      for (Kind kind : values()) {
        if (kind.code == code) {
          return kind;
        }
      }
      return RANK_FAILED;
    }
  }

  /** Returns the failure as other ranks see it: an interrupt is a plain failure to them. */
  Failure toPeers() {
    return kind == Kind.INTERRUPTED ? new Failure(Kind.RANK_FAILED, rank, message) : this;
  }

  /** Returns the exception of this failure for a rank that is in {@code call}. */
  DDStoreException during(String call) {
    return exception(call + ": " + message);
  }

  /** Returns the exception for a {@code call} that began after the group had broken. */
  DDStoreException after(String call) {
    return exception(call + " not started, the group is broken: " + message);
  }

  private DDStoreException exception(String text) {
    return switch (kind) {
      case RANK_FAILED -> new RankFailedException(rank, text);
      case MISMATCH -> new CollectiveMismatchException(rank, text);
      case LOST -> new RankLostException(rank, text);
      case DEADLINE -> new DeadlineExceededException(text);
      case INTERRUPTED -> new CollectiveInterruptedException(text);
    };
  }
}
