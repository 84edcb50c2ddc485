// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.ddstore.memory.Nonce;

/**
 * The shards of one store in one process: each is leased until the driver confirms the attempt that
 * loaded it. Decides only; the caller frees the shards that a method returns. Not thread-safe.
 *
 * @param <S> type of a shard
 */
final class ShardLeases<S> {
  private record Held<S>(S shard, Nonce attempt) {}

  private final List<Held<S>> confirmed = new ArrayList<>();
  private final List<Held<S>> leased = new ArrayList<>();
  private boolean isDropping;

  void lease(Nonce attempt, S shard) {
    leased.add(new Held<>(shard, attempt));
  }

  /**
   * Keeps the shards of an attempt. The driver may repeat the request if an answer was lost.
   *
   * @return number of shards of the attempt that are here: fewer than it has loaded if its lease
   *     has ended, or if a late rank of another attempt has freed some
   */
  int confirm(Nonce attempt) {
    leased.stream().filter(of(attempt)).forEach(confirmed::add);
    leased.removeIf(of(attempt));
    return (int) confirmed.stream().filter(of(attempt)).count();
  }

  /** Ends the lease of an attempt: its unconfirmed shards are to be freed. */
  List<S> expire(Nonce attempt) {
    return take(leased, of(attempt));
  }

  /** Returns the shards of an attempt to free, confirmed or not. */
  List<S> forget(Nonce attempt) {
    List<S> freed = take(leased, of(attempt));
    freed.addAll(take(confirmed, of(attempt)));
    return freed;
  }

  /** Returns the unconfirmed shards of other attempts to free, which have failed. */
  List<S> forgetOthers(Nonce attempt) {
    return take(leased, of(attempt).negate());
  }

  /** Returns whether the caller must drop the store: true for the first caller only. */
  boolean beginDrop() {
    boolean isFirst = !isDropping;
    isDropping = true;
    return isFirst;
  }

  /** Returns all shards to free. */
  List<S> drop() {
    List<S> freed = take(leased, held -> true);
    freed.addAll(take(confirmed, held -> true));
    return freed;
  }

  private Predicate<Held<S>> of(Nonce attempt) {
    return held -> held.attempt().equals(attempt);
  }

  private static <S> List<S> take(List<Held<S>> from, Predicate<Held<S>> which) {
    List<S> taken = new ArrayList<>();
    from.stream().filter(which).forEach(held -> taken.add(held.shard()));
    from.removeIf(which);
    return taken;
  }

  /** Returns the confirmed shards. */
  List<S> confirmed() {
    return confirmed.stream().map(Held::shard).toList();
  }

  /** Returns the number of shards that are not confirmed. */
  int leased() {
    return leased.size();
  }

  boolean isEmpty() {
    return confirmed.isEmpty() && leased.isEmpty();
  }
}
