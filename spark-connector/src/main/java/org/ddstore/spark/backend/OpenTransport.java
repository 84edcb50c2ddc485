// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend;

import java.time.Duration;
import java.util.function.Consumer;
import org.ddstore.transport.Transport;

/**
 * The open transport by which one rank reads rows outside of shared memory. All ranks have agreed
 * on it. Must be closed after the store and before its communicators, also after a failure.
 */
public final class OpenTransport implements AutoCloseable {
  /** Wait for other failed ranks; ranks that still read do not delay the failure any longer. */
  private static final Duration AFTER_FAILURE = Duration.ofSeconds(1);

  private static final Duration AFTER_THE_END = Duration.ofSeconds(30);

  private final StoreNetwork network;
  private final Transport transport;
  private final Transport forCopies;
  private final String reason;
  private final Consumer<Duration> close;
  private Duration patience = AFTER_FAILURE;

  /**
   * @param network connections of the store, which stay open
   * @param transport transport of reads inside the replica group
   * @param forCopies transport of reads across replica groups
   * @param reason human-readable reason for the transport, with its device or provider
   * @param close closes the transport; gets the longest time to wait for other ranks
   */
  public OpenTransport(
      StoreNetwork network,
      Transport transport,
      Transport forCopies,
      String reason,
      Consumer<Duration> close) {
    this.network = network;
    this.transport = transport;
    this.forCopies = forCopies;
    this.reason = reason;
    this.close = close;
  }

  /**
   * Returns the transport of a store that is closed with the connections of the store, and that
   * also reads across replica groups.
   */
  public static OpenTransport of(StoreNetwork network, Transport transport, String reason) {
    return new OpenTransport(network, transport, transport, reason, patience -> {});
  }

  /** Returns the transport of shards that outlive the ranks. */
  public Transport forShards() {
    return transport == network ? network : new DualTransport(transport, network);
  }

  public Transport transport() {
    return transport;
  }

  /** Returns the transport of reads across groups. */
  public Transport forCopies() {
    return forCopies;
  }

  /** Returns the human-readable reason for the transport, with its device or provider. */
  public String reason() {
    return reason;
  }

  public String description() {
    return transport.description() + ": " + reason;
  }

  /** Notes that all ranks have ended their work, so {@link #close()} can wait for them. Local. */
  public void end() {
    patience = AFTER_THE_END;
  }

  /** Frees memory that other ranks read. */
  @Override
  public void close() {
    close.accept(patience);
  }
}
