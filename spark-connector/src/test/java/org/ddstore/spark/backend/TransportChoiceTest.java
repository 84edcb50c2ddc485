// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.SparkConf;
import org.ddstore.contract.Needed;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.wire.FabricBackend;
import org.ddstore.spark.wire.LogTap;
import org.ddstore.spark.wire.TcpTransportBackend;
import org.ddstore.spark.wire.Wire;
import org.ddstore.spark.wire.WireSession;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.spark.wire.connection.WireOptions;
import org.ddstore.transport.Availability;
import org.ddstore.transport.Transport;
import org.ddstore.transport.TransportProvider;
import org.ddstore.types.DDStoreException;
import org.junit.jupiter.api.Test;

/** The agreement of ranks on one transport. */
class TransportChoiceTest {
  private static final String LOOPBACK = "127.0.0.1";
  private static final WireOptions PLAIN = WireOptions.of(new SparkConf(false), null, LOOPBACK);
  private static final byte[] NOTHING = offer("fabric", 0, "");

  /**
   * The offers of a rank with libfabric, which {@code auto} asks for before tcp.
   *
   * @param kind 0 none, 1 software, 2 RDMA
   */
  private static byte[] offer(String transport, int kind, String means) {
    byte[] fabric =
        ByteBuffer.allocate(1 + Integer.BYTES).put((byte) kind).putInt(means.hashCode()).array();
    return transport.equals("auto")
        ? offers("fabric", fabric, "tcp", new byte[0])
        : offers("fabric", fabric);
  }

  /** The message of a rank with names of transports, each followed by its offer. */
  private static byte[] offers(Object... namesAndOffers) {
    ByteBuffer all = ByteBuffer.allocate(TransportChoice.MAX_OFFER_BYTES);
    for (Object part : namesAndOffers) {
      byte[] bytes =
          part instanceof String name ? name.getBytes(StandardCharsets.UTF_8) : (byte[]) part;
      all.put((byte) bytes.length).put(bytes);
    }
    return Arrays.copyOf(all.array(), all.position());
  }

  /** A transport that {@code auto} takes, if resident stores can use it. */
  private record Pigeon(Optional<String> residentProblem, String condition)
      implements TransportBackend {
    @Override
    public String name() {
      return "pigeon";
    }

    @Override
    public int order() {
      return 0;
    }

    @Override
    public String summary() {
      return "flies";
    }

    @Override
    public Availability availability() {
      return Availability.available("");
    }

    @Override
    public Optional<AutoUse> autoUse() {
      return Optional.of(new AutoUse(99, condition));
    }

    @Override
    public TransportOffer offer(RankPlace place, boolean isAuto) {
      throw new UnsupportedOperationException();
    }
  }

  /** A provider for processes without Spark. */
  private record Stray(String name, int order, String summary) implements TransportProvider {
    @Override
    public Availability availability() {
      return Availability.available("");
    }

    @Override
    public Optional<AutoUse> autoUse() {
      return Optional.of(new AutoUse(100, ""));
    }
  }

  private static final TransportProvider STRAY = new Stray("stray", 1, "is not a backend");

  private static RankPlace place(int rank, boolean isEncrypted, String... settings) {
    Map<String, String> all = new HashMap<>(Map.of("spark.ddstore.fabric.provider", "tcp"));
    for (int i = 0; i < settings.length; i += 2) {
      all.put("spark.ddstore.fabric." + settings[i], settings[i + 1]);
    }
    return new RankPlace(rank, LOOPBACK, rank, isEncrypted, Settings.of(all));
  }

  private static TransportChoice choose(String transport) {
    return TransportChoice.of(transport, place(0, false));
  }

  private static OpenTransport open(TransportChoice choice, WireSession session, byte[]... offers) {
    Duration timeout = Duration.ofSeconds(10);
    return choice.open(List.of(offers), new TransportStart(session, null, 0, timeout, timeout));
  }

  @Test
  void tcpIsTakenWithoutAnOffer() {
    TransportChoice choice = choose("tcp");
    try (WireSession session = Wire.join(StoreToken.random(), PLAIN)) {
      assertThat(choice.offer()).isEqualTo(offers("tcp", new byte[0]));
      OpenTransport open = open(choice, session, choice.offer(), choice.offer());
      assertThat(open.transport()).isSameAs(session);
      assertThat(open.forCopies()).isSameAs(session);
      assertThat(open.forShards()).isSameAs(session);
      assertThat(open.reason()).isEqualTo("tcp: asked for");
    }
  }

  @Test
  void autoChoosesTcpIfSparkEncrypts() {
    TransportChoice choice = TransportChoice.of("auto", place(0, true));
    try (WireSession session = Wire.join(StoreToken.random(), PLAIN)) {
      assertThat(choice.offer()).isEqualTo(offer("auto", 0, ""));
      OpenTransport open = open(choice, session, choice.offer());
      assertThat(open.transport()).isSameAs(session);
      assertThat(open.reason()).contains("Spark encrypts");
    }
  }

  @Test
  void autoChoosesTcpUnlessAllRanksOfferTheSame() {
    TransportChoice choice = choose("auto");
    try (WireSession session = Wire.join(StoreToken.random(), PLAIN)) {
      byte[] hardware = offer("auto", 2, "verbs;ofi_rxm/2");
      OpenTransport open = open(choice, session, hardware, hardware, offer("auto", 0, ""));
      assertThat(open.transport()).isSameAs(session);
      assertThat(open.reason())
          .startsWith("auto takes fabric only with RDMA hardware on all ranks; ")
          .contains("rank 2 has none");
      open = open(choice, session, hardware, offer("auto", 2, "efa/1"));
      assertThat(open.transport()).isSameAs(session);
      assertThat(open.reason()).contains("rank 1 would use another provider than rank 0");
    }
  }

  @Test
  void executorsWithDifferentTransportsGiveTheSameErrorOnAllRanks() {
    byte[] own = offer("auto", 0, "");
    byte[] added = offers("pigeon", new byte[] {5, 1, 2, 3, 4, 5}, "tcp", new byte[0]);
    byte[] less = offers("tcp", new byte[0]);
    try (WireSession session = Wire.join(StoreToken.random(), PLAIN)) {
      for (byte[] other : List.of(added, less)) {
        String names = other == added ? "pigeon, tcp" : "tcp";
        assertThatThrownBy(() -> open(choose("auto"), session, own, own, other))
            .isExactlyInstanceOf(DDStoreException.class)
            .hasMessage(
                "rank 2 has other transports than rank 0: %s instead of fabric, tcp; pass the same jars to all executors, in --jars or in spark.executor.extraClassPath"
                    .formatted(names));
      }
      assertThatThrownBy(() -> open(choose("auto"), session, less, own, own))
          .as("the error of a rank does not depend on its own transports")
          .hasMessageStartingWith(
              "rank 1 has other transports than rank 0: fabric, tcp instead of tcp;");
    }
  }

  @Test
  void fabricRequiresTheSameOfferFromAllRanks() {
    String missing = FabricBackend.missing();
    Needed.check("fabric", missing == null, () -> missing);
    TransportChoice choice = choose("fabric");
    byte[] own = choice.offer();
    try (WireSession session = Wire.join(StoreToken.random(), PLAIN)) {
      assertThatThrownBy(() -> open(choice, session, own, own, NOTHING))
          .isExactlyInstanceOf(DDStoreException.class)
          .hasMessageStartingWith("the ranks cannot read by fabric: ")
          .hasMessageContaining("rank 2 has none");
      assertThatThrownBy(() -> open(choice, session, own, offer("fabric", 2, "efa/1")))
          .isExactlyInstanceOf(DDStoreException.class)
          .hasMessageContaining("rank 1 would use another provider")
          .hasMessageContaining("spark.ddstore.fabric.provider");
      OpenTransport first = open(choice, session, own, own);
      Transport taken = first.transport();
      assertThat(taken.description()).matches("fabric, (net|tcp) on lo,.*");
      assertThat(first.forShards()).isEqualTo(new DualTransport(taken, session));
      assertThat(open(choice, session, own, own).transport()).as("shared").isSameAs(taken);
      TransportChoice other = TransportChoice.of("fabric", place(1, false, "interface", "lo"));
      OpenTransport second = open(other, session, own, other.offer());
      assertThat(second.transport()).isSameAs(taken);
      assertThat(second.reason())
          .as("what was opened, by another rank")
          .isEqualTo(first.reason())
          .contains("bound to 127.0.0.1");
    }
  }

  @Test
  void aRankWithoutTheTransportReportsItBeforeItStarts() {
    assertThatThrownBy(() -> TransportChoice.of("fabric", place(3, false, "provider", "nowhere")))
        .isExactlyInstanceOf(DDStoreException.class)
        .hasMessageContaining("rank 3 at 127.0.0.1 cannot read by fabric")
        .hasMessageContaining("spark.ddstore.transport=auto");
  }

  @Test
  void aTransportThatThisProcessLacksIsNamedWithTheKnownOnes() {
    assertThatThrownBy(() -> choose("pigeon"))
        .isExactlyInstanceOf(DDStoreException.class)
        .hasMessageContaining("transport pigeon is not on the class path of this process")
        .hasMessageContaining(
            "known are auto, tcp, fabric, mpi: pass its jar where the runtime jar");
  }

  @Test
  void aProviderThatIsNoBackendHindersNoOther() throws Exception {
    TransportBackend pigeon = new Pigeon(Optional.empty(), "");
    List<TransportProvider> providers = List.of(STRAY, pigeon);
    assertThat(TransportBackends.configured("pigeon", providers)).contains(pigeon);
    assertThat(TransportBackends.ofAuto(providers)).containsExactly(pigeon);
    try (LogTap log = LogTap.open()) {
      TransportProvider other = new Stray("other", 1, "is not a backend, either");
      assertThat(TransportBackends.all(List.of(other, pigeon))).containsExactly(pigeon);
      assertThat(TransportBackends.all(List.of(other))).isEmpty();
      assertThat(log.of(TransportBackends.class))
          .as("reported once")
          .singleElement()
          .asString()
          .contains("transport other is left out: its provider " + Stray.class.getName());
    }
    assertThatThrownBy(() -> TransportBackends.configured("stray", providers))
        .isExactlyInstanceOf(DDStoreException.class)
        .hasMessageStartingWith("transport stray cannot be used in jobs of Spark: its provider ");
  }

  @Test
  void autoLeavesOutTransportsThatResidentStoresCannotUse() {
    TransportBackend lasting = new TcpTransportBackend();
    TransportBackend ends = new Pigeon(Optional.of("it ends with the job"), "");
    TransportBackend lasts = new Pigeon(Optional.empty(), "all ranks have windows");
    assertThat(TransportBackends.ofAuto(List.of(ends, lasting))).containsExactly(lasting);
    assertThat(TransportBackends.base(List.of(ends, lasting))).isEqualTo("tcp");
    assertThat(TransportBackends.ofAuto(List.of(lasts, lasting))).containsExactly(lasts, lasting);
    assertThat(TransportBackends.base(List.of(lasts, lasting))).isEqualTo("tcp");
    assertThatThrownBy(() -> TransportBackends.base(List.of(ends)))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void residentStoresUseTcpInsteadOfMpi() {
    assertThat(TransportBackends.base()).isEqualTo("tcp");
    assertThat(TransportBackends.residentWarning("mpi"))
        .contains(
            "resident stores cannot use transport mpi, because its windows end with the job:"
                + " using tcp");
    for (String transport : List.of("auto", "tcp", "fabric")) {
      assertThat(TransportBackends.residentWarning(transport)).as(transport).isEmpty();
    }
  }
}
