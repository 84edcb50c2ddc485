package org.ddstore.spark.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.network.sasl.SecretKeyHolder;
import org.ddstore.contract.Needed;
import org.ddstore.spark.wire.FabricBackend;
import org.ddstore.spark.wire.StoreToken;
import org.ddstore.spark.wire.Wire;
import org.ddstore.spark.wire.WireOptions;
import org.ddstore.spark.wire.WireSession;
import org.ddstore.transport.OneSidedOptions;
import org.ddstore.transport.Transport;
import org.ddstore.types.DDStoreException;
import org.junit.jupiter.api.Test;

/** How ranks come to one transport. */
class TransportChoiceTest {
  private static final String LOOPBACK = "127.0.0.1";
  private static final byte[] NOTHING = offer(0, "");
  private static final WireOptions PLAIN = WireOptions.of(new SparkConf(false), null, LOOPBACK);

  private static byte[] offer(int kind, String means) {
    return ByteBuffer.allocate(TransportChoice.OFFER_BYTES)
        .put((byte) kind)
        .putInt(means.hashCode())
        .array();
  }

  private static TransportChoice choose(String wanted, WireOptions wire) {
    return TransportChoice.of(wanted, 0, new OneSidedOptions("tcp", "", LOOPBACK, 0), wire);
  }

  private static WireOptions encrypted() {
    return WireOptions.of(
        new SparkConf(false)
            .set("spark.authenticate", "true")
            .set("spark.network.crypto.enabled", "true"),
        new SecretKeyHolder() {
          @Override
          public String getSaslUser(String application) {
            return "ddstore";
          }

          @Override
          public String getSecretKey(String application) {
            return "a secret of this test";
          }
        },
        LOOPBACK);
  }

  @Test
  void tcpIsTakenUnasked() {
    TransportChoice choice = choose("tcp", PLAIN);
    try (WireSession session = Wire.join(StoreToken.random(), PLAIN)) {
      assertThat(choice.offer()).isEqualTo(NOTHING);
      assertThat(choice.agree(List.of(choice.offer(), NOTHING), session)).isSameAs(session);
    }
  }

  @Test
  void autoDoesNotSendInTheClearWhatSparkEncrypts() {
    TransportChoice choice = choose("auto", encrypted());
    try (WireSession session = Wire.join(StoreToken.random(), PLAIN)) {
      assertThat(choice.offer()).isEqualTo(NOTHING);
      assertThat(choice.agree(List.of(choice.offer()), session)).isSameAs(session);
      assertThat(choice.reason()).contains("Spark encrypts");
    }
  }

  @Test
  void oneRankWithoutHardwareMakesAutoTcp() {
    TransportChoice choice = choose("auto", PLAIN);
    try (WireSession session = Wire.join(StoreToken.random(), PLAIN)) {
      byte[] hardware = offer(2, "verbs;ofi_rxm/2");
      assertThat(choice.agree(List.of(hardware, hardware, NOTHING), session)).isSameAs(session);
      assertThat(choice.reason()).contains("rank 2 has none");
      byte[] other = offer(2, "efa/1");
      assertThat(choice.agree(List.of(hardware, other), session)).isSameAs(session);
      assertThat(choice.reason()).contains("rank 1 would use another provider than rank 0");
    }
  }

  @Test
  void fabricIsTakenByAllOrFailsByName() {
    String missing = FabricBackend.missing();
    Needed.check("fabric", missing == null, () -> missing);
    TransportChoice choice = choose("fabric", PLAIN);
    byte[] own = choice.offer();
    try (WireSession session = Wire.join(StoreToken.random(), PLAIN)) {
      assertThatThrownBy(() -> choice.agree(List.of(own, own, NOTHING), session))
          .isExactlyInstanceOf(DDStoreException.class)
          .hasMessageContaining("rank 2 has none");
      assertThatThrownBy(() -> choice.agree(List.of(own, offer(2, "efa/1")), session))
          .isExactlyInstanceOf(DDStoreException.class)
          .hasMessageContaining("rank 1 would use another provider")
          .hasMessageContaining("spark.ddstore.fabric.provider");
      Transport taken = choice.agree(List.of(own, own), session);
      assertThat(taken.description()).matches("fabric, (net|tcp) on lo,.*");
      assertThat(choice.agree(List.of(own, own), session)).as("shared").isSameAs(taken);
      TransportChoice second =
          TransportChoice.of("fabric", 1, new OneSidedOptions("tcp", "lo", LOOPBACK, 1), PLAIN);
      assertThat(second.agree(List.of(own, second.offer()), session)).isSameAs(taken);
      assertThat(second.reason())
          .as("what was opened, by another rank")
          .isEqualTo(choice.reason())
          .contains("bound to 127.0.0.1");
    }
  }

  @Test
  void aRankWithoutTheTransportReportsItBeforeItStarts() {
    assertThatThrownBy(
            () ->
                TransportChoice.of(
                    "fabric", 3, new OneSidedOptions("nowhere", "", LOOPBACK, 0), PLAIN))
        .isExactlyInstanceOf(DDStoreException.class)
        .hasMessageContaining("rank 3 at 127.0.0.1 cannot read by fabric")
        .hasMessageContaining("spark.ddstore.transport=auto");
  }

  @Test
  void aStartMessageHoldsBoth() {
    byte[] endpoint = new byte[184];
    endpoint[7] = 7;
    StartMessage received = StartMessage.decode(new StartMessage(offer(1, "x"), endpoint).encode());
    assertThat(received.offer()).isEqualTo(offer(1, "x"));
    assertThat(received.endpoint()).isEqualTo(endpoint);
  }

  @Test
  void optionsAreThoseOfTheSettings() {
    assertThat(TransportChoice.options(Map.of("spark.master", "local"), LOOPBACK, 3))
        .isEqualTo(new OneSidedOptions("", "", LOOPBACK, 3));
    Map<String, String> settings =
        Map.of("spark.ddstore.fabric.provider", "verbs", "spark.ddstore.fabric.interface", "lo");
    assertThat(TransportChoice.options(settings, LOOPBACK, 0))
        .isEqualTo(new OneSidedOptions("verbs", "lo", LOOPBACK, 0));
    assertThatThrownBy(
            () ->
                TransportChoice.options(
                    Map.of("spark.ddstore.fabric.provider", "a b"), LOOPBACK, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("spark.ddstore.fabric.provider");
  }
}
