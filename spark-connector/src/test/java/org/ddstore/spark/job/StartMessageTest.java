// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.job;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.ddstore.spark.backend.TransportChoice;
import org.junit.jupiter.api.Test;

class StartMessageTest {
  @Test
  void holdsTheLongestOfferAndTheLongestAddress() {
    byte[] offer = new byte[TransportChoice.MAX_OFFER_BYTES];
    Arrays.fill(offer, (byte) 9);
    byte[] endpoint = new byte[188];
    endpoint[7] = 7;

    StartMessage received = StartMessage.decode(new StartMessage(offer, endpoint).encode());

    assertThat(received.offer()).isEqualTo(offer);
    assertThat(received.endpoint()).isEqualTo(endpoint);
  }
}
