// SPDX-License-Identifier: Apache-2.0
package org.ddstore.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.ddstore.transport.PeerRows;
import org.ddstore.transport.StagingBudget;
import org.ddstore.types.ProcessAddress;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** In virtual time: reads of two processes, A and B, whose rows others have. */
class SilenceWatchTest {
  private static final Duration LIMIT = Duration.ofMillis(1500);
  private static final int STEP_MS = 100;
  private static final int STEPS = 15;

  private final PeerRows a = rows(1);
  private final PeerRows b = rows(2);
  private final Map<ProcessAddress, CompletableFuture<?>> asked = new HashMap<>();
  private long nowNs = 42;
  private final SilenceWatch watch =
      new SilenceWatch(
          (process, limit) -> {
            CompletableFuture<?> answer = new CompletableFuture<>();
            asked.put(process, answer);
            return answer;
          },
          () -> nowNs);

  private static PeerRows rows(int number) {
    return new PeerRows(new ProcessAddress("host", number, number), new StagingBudget());
  }

  @BeforeEach
  void begin() {
    watch.limit(LIMIT, (process, given) -> true);
    watch.begin(List.of(a, b));
  }

  private void pass(int ms) {
    nowNs += Duration.ofMillis(ms).toNanos();
  }

  /** Lets the rest of the limit pass, after A and B were asked. */
  private boolean marksAfter(int steps, long bytes) {
    for (int i = 0; i < steps; i++) {
      pass(STEP_MS);
      if (watch.marks(bytes)) {
        return true;
      }
    }
    return false;
  }

  @Test
  void marksThatWhichDoesNotAnswer() {
    assertThat(marksAfter(STEPS / 2, 0)).isFalse();
    assertThat(asked).isEmpty();
    assertThat(marksAfter(1, 0)).isFalse();
    assertThat(asked).containsOnlyKeys(a.process(), b.process());
    asked.get(b.process()).complete(null);

    assertThat(marksAfter(STEPS / 2, 0)).isFalse();
    assertThat(marksAfter(1, 0)).isTrue();
    assertThat(a.isSilent()).isTrue();
    assertThat(b.isSilent()).isFalse();
  }

  @Test
  void keepsTheLastCopy() {
    watch.limit(LIMIT, (process, given) -> given.isEmpty());
    assertThat(marksAfter(STEPS + 1, 0)).isTrue();
    assertThat(List.of(a.isSilent(), b.isSilent())).containsExactly(true, false);
  }

  @Test
  void asksNobodyWhoseRowsNoOtherHas() {
    watch.limit(LIMIT, (process, given) -> false);
    assertThat(marksAfter(3 * STEPS, 0)).isFalse();
    assertThat(asked).isEmpty();
    assertThat(watch.answerNs(a.process(), nowNs + LIMIT.toNanos() * 2))
        .isEqualTo(nowNs + LIMIT.toNanos() * 2);
  }

  @Test
  void bytesStartTheTimeAgain() {
    assertThat(marksAfter(STEPS - 1, 0)).isFalse();
    assertThat(marksAfter(STEPS, 4096)).isFalse();
    assertThat(marksAfter(STEPS, 4096)).isTrue();
  }

  /** Answers may wait to be seen. */
  @Test
  void pauseOfTheReaderStartsTheTimeAgain() {
    assertThat(marksAfter(STEPS - 1, 0)).isFalse();
    pass(30_000);
    assertThat(watch.marks(0)).isFalse();
    assertThat(marksAfter(STEPS - 1, 0)).isFalse();
    assertThat(marksAfter(STEPS, 0)).isTrue();
  }

  /** Both are cut off, and the first question to one of them asks the other too. */
  @Test
  void questionsHaveTheLimitAndFindAllSilentOnes() {
    assertThat(watch.answerNs(a.process(), nowNs + LIMIT.toNanos() * 2))
        .isEqualTo(nowNs + LIMIT.toNanos());
    assertThat(watch.answerNs(a.process(), nowNs + 1)).isEqualTo(nowNs + 1);
    pass(1500);
    assertThat(watch.marksUnanswered()).isTrue();
    assertThat(List.of(a.isSilent(), b.isSilent())).containsExactly(true, true);
  }

  @Test
  void answeredQuestionIsAnAnswer() {
    watch.answerNs(a.process(), Long.MAX_VALUE);
    watch.answered(a.process());
    pass(1500);
    assertThat(watch.marksUnanswered()).isTrue();
    assertThat(List.of(a.isSilent(), b.isSilent())).containsExactly(false, true);
  }

  @Test
  void lateAnswerIsAnAnswer() {
    watch.answerNs(a.process(), Long.MAX_VALUE);
    asked.values().forEach(answer -> answer.complete(null));
    assertThat(watch.marksUnanswered()).isFalse();
    assertThat(a.isSilent()).isFalse();
  }
}
