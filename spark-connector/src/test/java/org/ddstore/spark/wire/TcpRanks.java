// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.spark.SparkConf;
import org.ddstore.DDStore;
import org.ddstore.StoreOptions;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.GroupEndpoint;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.spark.wire.connection.WireOptions;
import org.ddstore.types.Backing;

/**
 * Ranks of this JVM, each with a network end of its own, that reach no row by memory, not even
 * their own.
 */
public final class TcpRanks implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final StoreToken token = StoreToken.random();
  private final List<WireSession> sessions = new ArrayList<>();
  private final List<DDStore> stores = new ArrayList<>();
  private final List<Communicator> groups = new ArrayList<>();

  /**
   * Opens a store on each rank.
   *
   * @param add what each of them adds, at the same time as the others
   */
  TcpRanks(int ranks, Consumer<DDStore> add) throws Exception {
    this(ranks, WireOptions.of(new SparkConf(false), null, "127.0.0.1"), add);
  }

  /** As {@link #TcpRanks(int, Consumer)}, with options of the network ends. */
  TcpRanks(int ranks, WireOptions options, Consumer<DDStore> add) throws Exception {
    List<GroupEndpoint> endpoints = new ArrayList<>();
    for (int rank = 0; rank < ranks; rank++) {
      sessions.add(Wire.joinAlone(token, options));
      endpoints.add(GroupEndpoint.create(sessions.get(rank).lanes(null, false), rank, ranks));
    }
    List<byte[]> addresses = endpoints.stream().map(GroupEndpoint::address).toList();
    List<CompletableFuture<DDStore>> opening = new ArrayList<>();
    for (int rank = 0; rank < ranks; rank++) {
      int r = rank;
      opening.add(
          CompletableFuture.supplyAsync(
              () -> open(endpoints.get(r), addresses, sessions.get(r), add),
              rankThread -> new Thread(rankThread).start())); // all ranks wait for each other
    }
    for (CompletableFuture<DDStore> one : opening) {
      stores.add(one.get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
    }
  }

  private DDStore open(
      GroupEndpoint endpoint, List<byte[]> addresses, WireSession session, Consumer<DDStore> add) {
    try {
      Communicator group = endpoint.connect(addresses, PATIENCE);
      synchronized (groups) {
        groups.add(group);
      }
      DDStore store =
          DDStore.open(
              group, session, StoreOptions.defaults().backing(Backing.DIRECT).shortcut(false));
      add.accept(store);
      return store;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public DDStore store(int rank) {
    return stores.get(rank);
  }

  public WireSession session(int rank) {
    return sessions.get(rank);
  }

  @Override
  public void close() {
    stores.forEach(DDStore::close);
    groups.forEach(Communicator::close);
    sessions.forEach(WireSession::close);
  }
}
