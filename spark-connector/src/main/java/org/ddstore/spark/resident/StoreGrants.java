// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.ddstore.Catalog;
import org.ddstore.spark.job.StartedRank;
import org.ddstore.spark.types.StoreGrant;
import org.ddstore.spark.wire.OutsidePort;
import org.ddstore.spark.wire.connection.ReadClaims;
import org.ddstore.spark.wire.connection.ReadKey;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.types.ProcessAddress;

/**
 * The grants of a store, in the driver. Executors refuse all readers from outside of Spark until
 * the first grant opens them; executors that hold rows later are opened with the next handle.
 * Thread-safe.
 */
public final class StoreGrants {
  private final StoreToken token;
  private final ResidentProcesses processes;
  private final StoreEvents events;
  private final Map<String, Long> ends = new TreeMap<>(); // by label; guarded by this
  private final Set<String> revoked = new TreeSet<>(); // guarded by this

  public StoreGrants(StoreToken token, ResidentProcesses processes, StoreEvents events) {
    this.token = token;
    this.processes = processes;
    this.events = events;
  }

  /**
   * Returns a handle with a read key, and opens the executors to it. Blocks.
   *
   * @param state current state of the store
   * @param expiresMs milliseconds since 1970, or {@link ReadClaims#NEVER}
   * @throws IllegalArgumentException if the label is illegal or was revoked
   * @throws org.ddstore.types.DDStoreException if an executor does not answer in time
   */
  public OutsideHandle grant(StoreState state, String label, long expiresMs) {
    long start = System.nanoTime();
    ReadClaims claims = new ReadClaims(token.id(), label, expiresMs);
    boolean isLonger;
    synchronized (this) {
      if (revoked.contains(label)) {
        throw new IllegalArgumentException(
            "grant \"%s\" was revoked: choose another label".formatted(label));
      }
      Long before = ends.get(label);
      isLonger = before == null || before < expiresMs;
      ends.merge(label, expiresMs, Math::max);
    }
    List<Catalog> catalogs = state.catalogs();
    Map<ProcessAddress, OutsidePort> ports = open(catalogs);
    if (isLonger) {
      Instant end = expiresMs == ReadClaims.NEVER ? null : Instant.ofEpochMilli(expiresMs);
      events.granted(label, end, state.rows(), start);
    }
    boolean hasPort = ports.values().stream().anyMatch(port -> port.port() != 0);
    String problem =
        hasPort
            ? ""
            : ports.values().stream().map(OutsidePort::reason).findFirst().orElse("no executor");
    return new OutsideHandle(
        state,
        catalogs.stream().map(catalog -> outside(catalog, ports)).toList(),
        claims,
        ReadKey.derive(token, claims),
        problem);
  }

  /** Opens the processes that hold rows; an ended one has no port. */
  private Map<ProcessAddress, OutsidePort> open(List<Catalog> catalogs) {
    Map<ProcessAddress, OutsidePort> ports = new HashMap<>();
    for (Catalog catalog : catalogs) {
      for (SegmentAddress segment : catalog.segments(StartedRank.ROWS)) {
        ports.computeIfAbsent(segment.endpoint(), process -> processes.open(process, revoked()));
      }
    }
    return ports;
  }

  private static Catalog outside(Catalog catalog, Map<ProcessAddress, OutsidePort> ports) {
    List<SegmentAddress> segments = new ArrayList<>();
    for (SegmentAddress segment : catalog.segments(StartedRank.ROWS)) {
      int port = ports.get(segment.endpoint()).port();
      segments.add(
          new SegmentAddress(
              segment.nonce(),
              segment.host(),
              segment.path(),
              segment.rows(),
              segment.dataBytes(),
              segment.process(),
              port == 0
                  ? null
                  : new ProcessAddress(segment.endpoint().host(), port, segment.endpoint().id())));
    }
    return Catalog.of(
        catalog.ranks(), StartedRank.ROWS, catalog.schema(StartedRank.ROWS), segments);
  }

  private synchronized Set<String> revoked() {
    return Set.copyOf(revoked);
  }

  public synchronized List<StoreGrant> grants() {
    return ends.entrySet().stream()
        .map(
            grant ->
                new StoreGrant(
                    grant.getKey(),
                    grant.getValue() == ReadClaims.NEVER
                        ? Optional.empty()
                        : Optional.of(Instant.ofEpochMilli(grant.getValue())),
                    revoked.contains(grant.getKey())))
        .toList();
  }

  /**
   * Ends a grant on all processes, which close its channels. Asks all at the same time. Blocks.
   *
   * @return the processes that did not confirm; they end the grant as soon as they run again
   * @throws IllegalArgumentException if there is no such grant
   */
  public List<String> revoke(String label, Collection<ProcessAddress> holders) {
    long start = System.nanoTime();
    boolean isNew;
    synchronized (this) {
      if (!ends.containsKey(label)) {
        throw new IllegalArgumentException(
            "no grant \"%s\": the grants are %s".formatted(label, ends.keySet()));
      }
      isNew = revoked.add(label);
    }
    List<String> silent = processes.revoke(holders, revoked());
    if (isNew) {
      events.revoked(label, silent, start);
    }
    return silent;
  }
}
