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
 * The choice of the transport for rows outside of shared memory. Each rank finds the transports
 * that it can use and sends them to all ranks in the allGather of the start, so all ranks compute
 * the same choice. With {@code fabric}, all ranks must have it by the same provider, else the
 * choice fails. With {@code auto}, fabric is chosen if all ranks have it by the same provider and
 * with RDMA hardware, else {@code tcp}. {@code mpi} is chosen only if it is configured, and opened
 * by {@link RemoteRows}.
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
   * Returns the options of {@code spark.ddstore.fabric.*}.
   *
   * @param settings names and values of settings
   * @param host host of the process
   * @param index approximate index of the process among those of its host
   * @throws IllegalArgumentException if a value is illegal
   */
  public static OneSidedOptions options(Map<String, String> settings, String host, int index) {
    return Settings.of(settings).oneSidedOptions(host, index);
  }

  /**
   * Finds the transport that this rank can use. Local.
   *
   * @param wanted configured transport, one of {@link TransportNames#ALL}
   * @param wire options of the connections of this process: if they are encrypted, {@code auto}
   *     does not choose fabric, which sends rows unencrypted
   * @throws DDStoreException if {@code fabric} is configured and this process cannot use it
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
          "rank %d at %s cannot read by fabric: %s. spark.ddstore.transport=auto uses tcp instead"
              .formatted(rank, options.host(), own.detail()));
    }
    return new TransportChoice(wanted, found.orElse(null), own);
  }

  /** Chooses a device; {@code auto} loads the library only if RDMA hardware exists. */
  private static OneSidedChoice choose(
      OneSidedProvider provider, String wanted, OneSidedOptions options, WireOptions wire) {
    if (wanted.equals(TransportNames.FABRIC)) {
      return provider.choose(options);
    }
    if (wire.isEncrypted()) {
      return OneSidedChoice.none(
          "Spark encrypts network traffic and fabric does not; set spark.ddstore.transport=fabric to use it nevertheless");
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

  /** Returns the offer that this rank sends to the others: {@value #OFFER_BYTES} bytes. */
  public byte[] offer() {
    byte kind = NOTHING;
    if (own.isAvailable()) {
      kind = own.rdma() ? RDMA : SOFTWARE;
    }
    return ByteBuffer.allocate(OFFER_BYTES).put(kind).putInt(own.means().hashCode()).array();
  }

  /**
   * Opens the transport that all ranks agree on.
   *
   * @param offers offers of all ranks, in rank order
   * @return a transport that is closed with the session
   * @throws DDStoreException if {@code fabric} is configured and a rank lacks it or would use
   *     another provider
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
      reason = opened.detail(); // the first rank of this JVM opened it for all
      return opened;
    }
    String why = without >= 0 ? lacks(without, offers.get(without)) : differs(other);
    if (wanted.equals(TransportNames.FABRIC)) {
      throw new DDStoreException("the ranks cannot read by fabric: " + why);
    }
    reason = "auto takes fabric only with RDMA hardware on all ranks; " + why;
    return session;
  }

  /** Returns the first rank whose offer is below {@code least}, or -1. */
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
    return "rank %d would use another provider than rank 0 (this rank: %s); set spark.ddstore.fabric.provider to one that all ranks have"
        .formatted(rank, own.detail());
  }

  /** Returns whether MPI is configured; {@link #agree} does not open it. */
  boolean isMpi() {
    return wanted.equals(TransportNames.MPI);
  }

  /** Returns the human-readable reason for the transport; empty before {@link #agree}. */
  public String reason() {
    return reason;
  }
}
