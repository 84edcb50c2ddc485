// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.ddstore.collective.Messenger;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.spark.wire.connection.WireOptions;
import org.ddstore.transport.OneSidedTransport;
import org.ddstore.types.ProcessAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The end of the session that the ranks of a store share in a JVM. */
class WireSessionTest {
  private static final String LOOPBACK = "127.0.0.1";
  private static final byte LAST = 7;
  private static final Set<Thread.State> WAITS =
      Set.of(Thread.State.WAITING, Thread.State.TIMED_WAITING);

  /** A transport of which nothing is known but that it cannot be closed. */
  private static OneSidedTransport stubborn() {
    return (OneSidedTransport)
        Proxy.newProxyInstance(
            WireSessionTest.class.getClassLoader(),
            new Class<?>[] {OneSidedTransport.class},
            (proxy, method, arguments) -> {
              throw new IllegalStateException(method.getName());
            });
  }

  @Test
  void closesEverythingIfOneCloseThrows(@TempDir Path root) throws IOException {
    WireOptions options = WireOptions.of(new SparkConf(false), null, LOOPBACK);
    WireSession session = Wire.join(StoreToken.random(), options);
    long id = session.local().id();
    session.oneSided(calls -> stubborn());
    assertThat(session.lanes(root, true)).isNotNull();
    assertThat(locks(root)).hasSize(1);
    assertThatThrownBy(session::close)
        .isExactlyInstanceOf(IllegalStateException.class)
        .hasMessage("close");
    assertThat(locks(root)).as("directories of this process").isEmpty();
    try (WireSession next = Wire.join(StoreToken.random(), options)) {
      assertThat(next.local().id()).as("a wire of its own").isNotEqualTo(id);
    }
  }

  /** The last message of a rank may be what the others wait for. */
  @Test
  void messagesSentBeforeTheCloseArrive() throws Exception {
    WireOptions options = WireOptions.of(new SparkConf(false), null, LOOPBACK);
    StoreToken token = StoreToken.random();
    CompletableFuture<Byte> arrived = new CompletableFuture<>();
    CompletableFuture<Void> busy = new CompletableFuture<>();
    CompletableFuture<Void> free = new CompletableFuture<>();
    WireSession leaving = Wire.joinAlone(token, options);
    Thread close = new Thread(leaving::close, "close");
    try (WireSession staying = Wire.joinAlone(token, options)) {
      receive(staying, message -> arrived.complete(message.get()));
      receive(
          leaving,
          message -> {
            busy.complete(null);
            free.join();
          });
      staying.messenger().send(leaving.local(), ByteBuffer.allocate(1));
      busy.get(1, TimeUnit.MINUTES);
      // The thread of the connection has no time: what is sent now is queued.
      leaving.messenger().send(staying.local(), ByteBuffer.wrap(new byte[] {LAST}));
      close.start();
      await("the close waits")
          .atMost(Duration.ofMinutes(1))
          .until(() -> WAITS.contains(close.getState()));
      free.complete(null);
      assertThat(arrived.get(1, TimeUnit.MINUTES)).isEqualTo(LAST);
    } finally {
      free.complete(null);
      close.join();
    }
  }

  private static void receive(WireSession session, Consumer<ByteBuffer> what) {
    session
        .messenger()
        .setReceiver(
            new Messenger.Receiver() {
              @Override
              public void received(ByteBuffer message) {
                what.accept(message);
              }

              @Override
              public void disconnected(ProcessAddress process) {
                // Only the messages before it count.
              }
            });
  }

  private static List<Path> locks(Path root) throws IOException {
    try (Stream<Path> all = Files.walk(root)) {
      return all.filter(path -> path.endsWith("lock")).toList();
    }
  }
}
