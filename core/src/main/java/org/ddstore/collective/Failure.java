package org.ddstore.collective;

import org.ddstore.types.CollectiveInterruptedException;
import org.ddstore.types.CollectiveMismatchException;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.RankFailedException;
import org.ddstore.types.RankLostException;

/**
 * Why a group broke, in the form that travels between ranks.
 *
 * @param rank the rank that caused it; for {@link Kind#DEADLINE} the first one that was missing
 * @param message without the call of the rank that raises it
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

    /** An unknown code is taken for the most general kind: the failure itself is certain. */
    static Kind ofCode(int code) {
      for (Kind kind : values()) {
        if (kind.code == code) {
          return kind;
        }
      }
      return RANK_FAILED;
    }
  }

  /** The failure as the other ranks are to see it: another rank's interrupt is not theirs. */
  Failure toPeers() {
    return kind == Kind.INTERRUPTED ? new Failure(Kind.RANK_FAILED, rank, message) : this;
  }

  /** The exception of this failure for a rank that is in {@code call}. */
  DDStoreException during(String call) {
    return exception(call + ": " + message);
  }

  /** The exception of a {@code call} that came after the group had broken. */
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
