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
 * How one rank reads rows that memory does not reach: what the ranks have agreed on, open. Closed
 * after the store and before its communicators, also on the way out of a failure.
 */
public final class RemoteRows implements AutoCloseable {
  /** Others that fail, too, come in this time; who reads on does not hold up the failure. */
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
   * Opens what the ranks agree on. Collective over {@code ranks}.
   *
   * @param offers of all ranks, of {@link TransportChoice#offer()}
   * @param session stays the caller's
   * @param ranks of the whole stage
   * @param group the replica group of this rank
   * @param options in case it is MPI
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
   * For shards that stay when the ranks have ended.
   *
   * @param session that {@link #open} was given
   */
  public Transport forShards(WireSession session) {
    return transport == session ? session : new BesideTcp(transport, session);
  }

  /** For the store of the group. */
  public Transport transport() {
    return transport;
  }

  /** For reads across groups: MPI has windows inside a group only. */
  public Transport forCopies() {
    return forCopies;
  }

  /** Why it is that, and what it was opened with, for people. */
  public String reason() {
    return reason;
  }

  /** What it is and why, for people. */
  public String description() {
    return transport.description() + ": " + reason;
  }

  /** All ranks have ended what they did, so {@link #close()} may wait for them. Local. */
  public void end() {
    patience = AFTER_THE_END;
  }

  /**
   * Gives back what others read. Where MPI holds it, they all have to come: what is there after a
   * failure for them to read is given back when the last of them has come, by another thread.
   */
  @Override
  public void close() {
    if (mpi != null) {
      mpi.close(patience);
    }
  }
}
