// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.connection;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.ddstore.spark.types.OutsideStatistics;

/**
 * Which readers from outside of Spark may read a store in this process: none before the driver
 * opens it to them. Thread-safe.
 */
public final class ReadGrants {
  /**
   * Number of labels whose reads are counted; later labels share the counters of {@link #OTHERS}.
   */
  private static final int MAX_LABELS = 128;

  private static final String OTHERS = "(others)"; // not a legal label

  private final StoreToken token;
  private final Map<String, ServedReads> reads = new TreeMap<>(); // by label; guarded by itself
  private volatile Set<String> revoked = Set.of();
  private volatile boolean open;
  private volatile boolean gone;

  public ReadGrants(StoreToken token) {
    this.token = token;
  }

  /**
   * Lets outsiders read the store, apart from those of revoked grants.
   *
   * @param revokedLabels labels of all grants that were revoked so far
   */
  public synchronized void open(Set<String> revokedLabels) {
    Set<String> all = new HashSet<>(revokedLabels);
    all.addAll(revoked); // requests can overtake each other
    revoked = Set.copyOf(all);
    open = true;
  }

  public boolean isOpen() {
    return open;
  }

  /** Notes that this process has left the store. */
  public void close() {
    gone = true;
  }

  public ReadKey key(ReadClaims claims) {
    return ReadKey.derive(token, claims);
  }

  /**
   * Returns {@link Status#OK} if a reader with such claims, who has proved the key, may read now;
   * else {@link Status#GONE}, {@link Status#REVOKED} or {@link Status#EXPIRED}.
   *
   * @param nowMs milliseconds since 1970
   */
  public byte check(ReadClaims claims, long nowMs) {
    if (gone) {
      return Status.GONE;
    }
    if (revoked.contains(claims.label())) {
      return Status.REVOKED;
    }
    return nowMs >= claims.expiresMs() ? Status.EXPIRED : Status.OK;
  }

  /** Returns the counters of the reads of a grant. */
  public ServedReads reads(ReadClaims claims) {
    synchronized (reads) {
      String label =
          reads.containsKey(claims.label()) || reads.size() < MAX_LABELS ? claims.label() : OTHERS;
      return reads.computeIfAbsent(label, made -> new ServedReads());
    }
  }

  /** Returns what was read, by label. */
  public List<OutsideStatistics> statistics() {
    synchronized (reads) {
      return reads.entrySet().stream()
          .map(grant -> grant.getValue().statistics(grant.getKey()))
          .toList();
    }
  }
}
