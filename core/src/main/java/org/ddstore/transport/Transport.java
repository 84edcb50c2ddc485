package org.ddstore.transport;

import java.time.Duration;
import org.ddstore.ProcessAddress;
import org.ddstore.memory.Segment;

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
   * Ends what {@link #export} began: later reads of the segment are refused at once. Local;
   * idempotent.
   */
  void withdraw(Segment segment);

  /**
   * A reader for one thread.
   *
   * @param timeout over all fetches that follow a {@link RemoteReader#begin}
   */
  RemoteReader newReader(Duration timeout);
}
