package org.ddstore.spark.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.ddstore.transport.OneSidedTransport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How what the ranks of a store share in a JVM ends. */
class WireSessionTest {
  private static final String LOOPBACK = "127.0.0.1";

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
  void allIsClosedThoughOneThrows(@TempDir Path root) throws IOException {
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

  private static List<Path> locks(Path root) throws IOException {
    try (Stream<Path> all = Files.walk(root)) {
      return all.filter(path -> path.endsWith("lock")).toList();
    }
  }
}
