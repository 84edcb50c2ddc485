// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.ddstore.memory.Segment;
import org.ddstore.spark.wire.connection.ReadClaims;
import org.ddstore.spark.wire.connection.ReadKey;
import org.ddstore.spark.wire.rows.GatherReader;
import org.ddstore.spark.wire.rows.OutsidePaths;
import org.ddstore.transport.RemoteReader;
import org.ddstore.transport.Transport;
import org.ddstore.types.ProcessAddress;

/**
 * The transport of a JVM outside of the Spark application that has the store: it reads over data
 * ports with a read key, and exports nothing.
 */
public final class OutsideTransport implements Transport, AutoCloseable {
  private final OutsidePaths paths;

  /**
   * @param timeout time limit of a connection to a process
   */
  public OutsideTransport(ReadClaims claims, ReadKey key, Duration timeout) {
    this.paths = new OutsidePaths(claims, key, timeout);
  }

  @Override
  public String description() {
    return "tcp, not encrypted, over data ports";
  }

  @Override
  public ProcessAddress local() {
    throw new UnsupportedOperationException("a reader outside of Spark serves no rows");
  }

  @Override
  public void export(Segment segment) {
    throw new UnsupportedOperationException("a reader outside of Spark serves no rows");
  }

  @Override
  public void withdraw(Segment segment) {
    throw new UnsupportedOperationException("a reader outside of Spark serves no rows");
  }

  @Override
  public RemoteReader newReader(Duration timeout) {
    return new GatherReader(paths, timeout, Wire.mayUseC());
  }

  @Override
  public CompletableFuture<?> probe(ProcessAddress process) {
    return paths.probe(process);
  }

  @Override
  public void close() {
    paths.close();
  }
}
