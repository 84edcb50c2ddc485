// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Connections of others before they have proved a token; without a network. */
class UnauthenticatedConnectionsTest {
  private static final Duration DEADLINE = Duration.ofSeconds(20);

  private final UnauthenticatedConnections unauthenticated =
      new UnauthenticatedConnections(new RefusalLog(), 2, DEADLINE);

  private EmbeddedChannel connect() {
    EmbeddedChannel channel = new EmbeddedChannel();
    channel.freezeTime();
    unauthenticated.add(channel);
    return channel;
  }

  private static void pass(EmbeddedChannel channel, Duration time) {
    channel.advanceTimeBy(time.toNanos(), TimeUnit.NANOSECONDS);
    channel.runScheduledPendingTasks();
  }

  @Test
  void closesAConnectionWithoutAProofAtTheDeadline() {
    EmbeddedChannel channel = connect();
    pass(channel, DEADLINE.minusMillis(1));
    assertThat(channel.isOpen()).isTrue();
    pass(channel, Duration.ofMillis(1));
    assertThat(channel.isOpen()).isFalse();
    assertThat(unauthenticated.count()).isZero();
  }

  @Test
  void keepsAConnectionWithAProof() {
    EmbeddedChannel channel = connect();
    assertThat(unauthenticated.remove(channel)).isTrue();
    pass(channel, DEADLINE.multipliedBy(2));
    assertThat(channel.isOpen()).isTrue();
    channel.close().syncUninterruptibly();
    assertThat(unauthenticated.remove(channel)).isFalse();
  }

  @Test
  void theOldestOfTooManyConnectionsIsClosed() {
    EmbeddedChannel first = connect();
    EmbeddedChannel second = connect();
    assertThat(first.isOpen()).isTrue();
    EmbeddedChannel third = connect();
    assertThat(first.isOpen()).isFalse();
    assertThat(second.isOpen()).isTrue();
    assertThat(third.isOpen()).isTrue();
    second.close().syncUninterruptibly();
    assertThat(unauthenticated.count()).isEqualTo(1);
    connect();
    assertThat(third.isOpen()).as("there is room again").isTrue();
  }
}
