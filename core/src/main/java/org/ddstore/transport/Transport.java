package org.ddstore.transport;

import java.time.Duration;
import java.util.List;
import org.ddstore.memory.Segment;
import org.ddstore.types.ProcessAddress;

/**
 * Reads the memory of other processes, one-sided: their ranks take no part. One per store and
 * process; all methods may be called by any thread.
 */
public interface Transport {
  /** The name by which users know it, and what it uses: {@code tcp, encrypted}. */
  String description();

  /** Where other processes reach what this one exports. */
  ProcessAddress local();

  /**
   * Lets other processes read a segment of this one. Local. The transport takes a reference of its
   * own.
   */
  void export(Segment segment);

  /**
   * Makes what all ranks of the store have exported readable for them, where that takes all of
   * them. Collective: called by every rank, after each has exported its own segment and all know of
   * each other's, in the same order for several; an error on one rank is raised on all.
   *
   * @param own what this rank has exported
   * @param all what each rank has exported, in the order of the ranks
   */
  default void share(Segment own, List<SegmentAddress> all) {}

  /**
   * Ends what {@link #export} began: later reads of the segment by others are refused, or give the
   * rows as they were. Local; idempotent.
   */
  void withdraw(Segment segment);

  /**
   * A reader for one thread.
   *
   * @param timeout over all fetches that follow a {@link RemoteReader#begin}
   */
  RemoteReader newReader(Duration timeout);
}
