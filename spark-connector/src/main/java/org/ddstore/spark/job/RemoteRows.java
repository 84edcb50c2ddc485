package org.ddstore.spark.job;

import java.time.Duration;
import java.util.List;
import org.ddstore.collective.Communicator;
import org.ddstore.mpi.Mpi;
import org.ddstore.mpi.MpiOptions;
import org.ddstore.mpi.MpiTransport;
import org.ddstore.spark.wire.WireSession;
import org.ddstore.transport.Transport;

/**
 * The open transport by which one rank reads rows outside of shared memory. All ranks have agreed
 * on it. Must be closed after the store and before its communicators, also after a failure.
 */
public final class RemoteRows implements AutoCloseable {
  /** Wait for other failed ranks; ranks that still read do not delay the failure any longer. */
  private static final Duration AFTER_FAILURE = Duration.ofSeconds(1);

  private static final Duration AFTER_THE_END = Duration.ofSeconds(30);

  private final Transport transport;
  private final Transport forCopies;
  private final String reason;
  private final MpiTransport mpi;
  private Duration patience = AFTER_FAILURE;

  private RemoteRows(Transport transport, Transport forCopies, String reason, MpiTransport mpi) {
    this.transport = transport;
    this.forCopies = forCopies;
    this.reason = reason;
    this.mpi = mpi;
  }

  /**
   * Opens the transport that all ranks agree on. Collective over {@code ranks}.
   *
   * @param offers {@link TransportChoice#offer()} of all ranks, in rank order
   * @param session session that the caller continues to own
   * @param ranks communicator of the whole stage
   * @param group replica group of this rank
   * @param options options of MPI, used only if MPI is chosen
   */
  public static RemoteRows open(
      TransportChoice choice,
      List<byte[]> offers,
      WireSession session,
      Communicator ranks,
      int group,
      MpiOptions options) {
    Transport agreed = choice.agree(offers, session);
    if (!choice.isMpi()) {
      return new RemoteRows(agreed, agreed, choice.reason(), null);
    }
    MpiTransport mpi = Mpi.join(ranks, group, options);
    return new RemoteRows(new BesideTcp(mpi, session), session, choice.reason(), mpi);
  }

  /**
   * Returns the transport of shards that outlive the ranks.
   *
   * @param session session that was passed to {@link #open}
   */
  public Transport forShards(WireSession session) {
    return transport == session ? session : new BesideTcp(transport, session);
  }

  /** Returns the transport of the store of this rank's group. */
  public Transport transport() {
    return transport;
  }

  /** Returns the transport of reads across groups, for which MPI has no windows. */
  public Transport forCopies() {
    return forCopies;
  }

  /** Returns the human-readable reason for the transport, with its device or provider. */
  public String reason() {
    return reason;
  }

  /** Returns a human-readable description of the transport, with the reason. */
  public String description() {
    return transport.description() + ": " + reason;
  }

  /** Notes that all ranks have ended their work, so {@link #close()} can wait for them. Local. */
  public void end() {
    patience = AFTER_THE_END;
  }

  /**
   * Frees memory that other ranks read. With MPI this needs all ranks: after a failure, another
   * thread frees the memory when the last rank arrives.
   */
  @Override
  public void close() {
    if (mpi != null) {
      mpi.close(patience);
    }
  }
}
