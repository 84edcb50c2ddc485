// SPDX-License-Identifier: Apache-2.0
package org.ddstore.transport;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.ddstore.memory.Segment;
import org.ddstore.types.ProcessAddress;

/** A transport for one-sided reads, without the owners' part. Any thread. */
public interface Transport {
  /** Returns the name of the transport and its mode: {@code tcp, encrypted}. */
  String description();

  /** Returns the address at which other processes reach the exports of this one. */
  ProcessAddress local();

  /** Exports a segment to other processes. Local. The transport takes its own reference. */
  void export(Segment segment);

  /**
   * Makes the exported segments readable for all ranks of the store, for transports that need a
   * collective step. Collective: every rank calls it after it has exported its own segment and
   * knows the addresses of all others, in the same order for several segments. An error on one rank
   * is raised on all.
   *
   * @param own segment that this rank has exported
   * @param all addresses of the exported segments, in rank order
   */
  default void share(Segment own, List<SegmentAddress> all) {}

  /** Ends an {@link #export}: later reads fail or return unchanged rows. Local; idempotent. */
  void withdraw(Segment segment);

  /**
   * Creates a reader for one thread.
   *
   * @param timeout limit for all fetches after a {@link RemoteReader#begin}
   */
  RemoteReader newReader(Duration timeout);

  /**
   * Asks a process that was silent whether it serves rows again. Does not block.
   *
   * @return completed by the answer; failed if there is none in time, or the transport cannot ask
   */
  default CompletableFuture<?> probe(ProcessAddress process) {
    return CompletableFuture.failedFuture(
        new UnsupportedOperationException(description() + " does not probe " + process));
  }
}
