// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.util.List;
import org.ddstore.contract.Untrusted;
import org.ddstore.spark.job.StartExchange;
import org.ddstore.spark.job.StartMessage;
import org.junit.jupiter.params.provider.MethodSource;

/** The messages by which the ranks of a job meet. */
class StartBytesFuzzTest {
  static List<byte[]> messages() {
    byte[] offer = {3, 't', 'c', 'p', 2, 1, 2, 1, 'm', 0};
    byte[] message = new StartMessage(offer, new byte[20]).encode();
    return List.of(StartExchange.pack(message, message));
  }

  @MethodSource("messages")
  @FuzzTest
  void messages(byte[] all) {
    List<byte[]> messages =
        Untrusted.parse(() -> StartExchange.unpack(all), IllegalArgumentException.class)
            .orElse(List.of());
    for (byte[] bytes : messages) {
      Untrusted.parse(() -> StartMessage.decode(bytes), IllegalArgumentException.class)
          .ifPresent(
              message -> {
                assertThat(message.encode()).isEqualTo(bytes);
                Untrusted.parse(
                    () -> TransportChoice.read(message.offer()), IllegalArgumentException.class);
              });
    }
  }
}
