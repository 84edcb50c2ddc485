package org.ddstore;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import org.ddstore.collective.Communicator;

/**
 * A collective in which a rank's own work may fail without breaking the group: all ranks come, say
 * whether their work was done, and all raise the failure of the lowest rank that failed. The group
 * can go on after that.
 */
final class Agreement {
  private static final byte DONE = 0;
  private static final byte FAILED = 1;

  private Agreement() {}

  /**
   * Does {@code work} and gives its result to all ranks.
   *
   * @param call operation and arguments, the same on all ranks
   * @return the results by rank
   * @throws RankFailedException if another rank failed; a rank that failed itself throws what its
   *     work threw
   */
  static List<byte[]> reach(Communicator communicator, String call, Callable<byte[]> work) {
    Exception[] own = new Exception[1];
    byte[][] answers =
        communicator.exchange(
            call,
            () -> {
              try {
                return answer(DONE, work.call());
              } catch (Exception e) {
                own[0] = e;
                return answer(FAILED, e.toString().getBytes(StandardCharsets.UTF_8));
              }
            });
    if (own[0] != null) {
      throw own[0] instanceof RuntimeException unchecked
          ? unchecked
          : new DDStoreException(call + ": " + own[0].getMessage(), own[0]);
    }
    List<byte[]> results = new ArrayList<>(answers.length);
    for (int rank = 0; rank < answers.length; rank++) {
      byte[] answer = answers[rank];
      byte[] result = Arrays.copyOfRange(answer, 1, answer.length);
      if (answer[0] == FAILED) {
        throw new RankFailedException(
            rank,
            "%s: rank %d failed: %s"
                .formatted(call, rank, new String(result, StandardCharsets.UTF_8)));
      }
      results.add(result);
    }
    return results;
  }

  private static byte[] answer(byte status, byte[] result) {
    byte[] answer = new byte[result.length + 1];
    answer[0] = status;
    System.arraycopy(result, 0, answer, 1, result.length);
    return answer;
  }
}
