package org.ddstore.spark.job;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.stream.IntStream;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.config.TransportNames;
import org.ddstore.spark.wire.WireOptions;
import org.ddstore.spark.wire.WireSession;
import org.ddstore.transport.Availability;
import org.ddstore.transport.OneSidedChoice;
import org.ddstore.transport.OneSidedOptions;
import org.ddstore.transport.OneSidedProvider;
import org.ddstore.transport.OneSidedTransport;
import org.ddstore.transport.Transport;
import org.ddstore.transport.TransportProvider;
import org.ddstore.types.DDStoreException;

/**
 * Which transport the ranks of a store take for rows that memory does not reach. Each rank finds
 * out what it could use, tells all others in the exchange of the start, and all come to the same
 * end: {@code fabric} where every rank has it, by the same provider, and for {@code auto} with RDMA
 * hardware; else {@code auto} takes {@code tcp}, and {@code fabric} is an error. {@code mpi} is
 * taken only where it was asked for, and opened by {@link RemoteRows}.
 */
public final class TransportChoice {
  static final int OFFER_BYTES = 1 + Integer.BYTES;

  private static final byte NOTHING = 0;
  private static final byte SOFTWARE = 1;
  private static final byte RDMA = 2;

  private final String wanted;
  private final OneSidedProvider provider;
  private final OneSidedChoice own;
  private String reason = "";

  private TransportChoice(String wanted, OneSidedProvider provider, OneSidedChoice own) {
    this.wanted = wanted;
    this.provider = provider;
    this.own = own;
  }

  /**
   * What {@code spark.ddstore.fabric.*} say.
   *
   * @param settings names and values, from which these are taken
   * @param host of the process
   * @param index of it among those of its host, about
   * @throws IllegalArgumentException for a value that is not legal
   */
  public static OneSidedOptions options(Map<String, String> settings, String host, int index) {
    return Settings.of(settings).oneSidedOptions(host, index);
  }

  /**
   * Finds out what this rank could use. Local.
   *
   * @param wanted one of {@link TransportNames#ALL}
   * @param wire how connections of this process are guarded: {@code auto} does not send rows in the
   *     clear where they are encrypted
   * @throws DDStoreException if {@code fabric} is wanted and this process cannot use it
   */
  public static TransportChoice of(
      String wanted, int rank, OneSidedOptions options, WireOptions wire) {
    if (!wanted.equals(TransportNames.AUTO) && !wanted.equals(TransportNames.FABRIC)) {
      return new TransportChoice(wanted, null, OneSidedChoice.none("asked for"));
    }
    Optional<OneSidedProvider> found = provider();
    OneSidedChoice own =
        found
            .map(provider -> choose(provider, wanted, options, wire))
            .orElseGet(() -> OneSidedChoice.none("not part of this build"));
    if (wanted.equals(TransportNames.FABRIC) && !own.isAvailable()) {
      throw new DDStoreException(
          "rank %d at %s cannot read by fabric: %s. spark.ddstore.transport=auto takes tcp there"
              .formatted(rank, options.host(), own.detail()));
    }
    return new TransportChoice(wanted, found.orElse(null), own);
  }

  /** Without hardware {@code auto} has no use for the library, and does not load it. */
  private static OneSidedChoice choose(
      OneSidedProvider provider, String wanted, OneSidedOptions options, WireOptions wire) {
    if (wanted.equals(TransportNames.FABRIC)) {
      return provider.choose(options);
    }
    if (wire.isEncrypted()) {
      return OneSidedChoice.none(
          "Spark encrypts what crosses the network, and fabric does not; spark.ddstore.transport=fabric takes it nevertheless");
    }
    Availability hardware = provider.hardware();
    return hardware.isAvailable()
        ? provider.choose(options)
        : OneSidedChoice.none(hardware.detail());
  }

  private static Optional<OneSidedProvider> provider() {
    return ServiceLoader.load(TransportProvider.class, TransportProvider.class.getClassLoader())
        .stream()
        .map(ServiceLoader.Provider::get)
        .filter(
            found ->
                found.name().equals(TransportNames.FABRIC) && found instanceof OneSidedProvider)
        .map(found -> (OneSidedProvider) found)
        .findAny();
  }

  /** What this rank tells the others: {@value #OFFER_BYTES} bytes. */
  public byte[] offer() {
    byte kind = NOTHING;
    if (own.isAvailable()) {
      kind = own.rdma() ? RDMA : SOFTWARE;
    }
    return ByteBuffer.allocate(OFFER_BYTES).put(kind).putInt(own.means().hashCode()).array();
  }

  /**
   * Comes to the end that all ranks come to, and opens it.
   *
   * @param offers of all ranks, in rank order
   * @return closed with the session
   * @throws DDStoreException if {@code fabric} is wanted and some ranks would use another provider
   */
  public Transport agree(List<byte[]> offers, WireSession session) {
    if (provider == null) {
      reason = "%s: %s".formatted(wanted, own.detail());
      return session;
    }
    int without =
        wanted.equals(TransportNames.AUTO)
            ? firstOther(offers, RDMA)
            : firstOther(offers, SOFTWARE);
    int other = firstOfOtherMeans(offers);
    if (without < 0 && other < 0) {
      OneSidedTransport opened = session.oneSided(calls -> provider.open(own, calls));
      reason = opened.detail(); // of the first rank in this JVM, which opened it for all
      return opened;
    }
    String why = without >= 0 ? lacks(without, offers.get(without)) : differs(other);
    if (wanted.equals(TransportNames.FABRIC)) {
      throw new DDStoreException("the ranks cannot read by fabric: " + why);
    }
    reason = "auto takes fabric only with RDMA hardware on all ranks; " + why;
    return session;
  }

  /** The first rank that offers less than so much; -1 if there is none. */
  private static int firstOther(List<byte[]> offers, byte least) {
    return IntStream.range(0, offers.size())
        .filter(rank -> offers.get(rank)[0] < least)
        .findFirst()
        .orElse(-1);
  }

  private static int firstOfOtherMeans(List<byte[]> offers) {
    int first = means(offers.get(0));
    return IntStream.range(0, offers.size())
        .filter(rank -> means(offers.get(rank)) != first)
        .findFirst()
        .orElse(-1);
  }

  private static int means(byte[] offer) {
    return ByteBuffer.wrap(offer).getInt(1);
  }

  private String lacks(int rank, byte[] offer) {
    return "rank %d has %s (this rank: %s)"
        .formatted(rank, offer[0] == NOTHING ? "none" : "software only", own.detail());
  }

  private String differs(int rank) {
    return "rank %d would use another provider than rank 0 (this rank: %s); spark.ddstore.fabric.provider names one for all"
        .formatted(rank, own.detail());
  }

  /** True if the ranks read by TransportNames.MPI, whatever {@link #agree} gave. */
  boolean isMpi() {
    return wanted.equals(TransportNames.MPI);
  }

  /** Why it is this transport, for people; after {@link #agree}. */
  public String reason() {
    return reason;
  }
}
