// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.ddstore.memory.Nonce;
import org.junit.jupiter.api.Test;

/** The same if Java answers all requests, as it does without the library. */
class DataServerByJavaTest extends DataServerTest {
  @Override
  boolean inC() {
    return false;
  }

  /** A peer that sends many requests at once cannot keep the thread from the others. */
  @Test
  void answersSomeRequestsOfEachChannelInTurn() throws Exception {
    Nonce others = Nonce.random();
    List<Nonce> served = new CopyOnWriteArrayList<>();
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch mayGoOn = new CountDownLatch(1);
    restart(
        name -> {
          served.add(name);
          begun.countDown();
          await(mayGoOn);
          return rows();
        });
    Socket greedy = admit(connect());
    Socket other = admit(connect(), others);
    byte[] frame = frame(false, 0, SMALL_BYTES, small(), 9, 1);
    greedy.getOutputStream().write(frame);
    await(begun);
    for (int i = 1; i < 500; i++) {
      greedy.getOutputStream().write(frame);
    }
    other.getOutputStream().write(frame);
    mayGoOn.countDown();

    assertThat(reply(other.getInputStream(), SMALL_BYTES, small()))
        .isEqualTo(record(9, SMALL_BYTES));
    for (int i = 0; i < 500; i++) {
      assertThat(reply(greedy.getInputStream(), SMALL_BYTES, small()))
          .isEqualTo(record(9, SMALL_BYTES));
    }
    assertThat(served).hasSize(501);
    assertThat(served.indexOf(others)).as("requests before that of the other peer").isLessThan(20);
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
