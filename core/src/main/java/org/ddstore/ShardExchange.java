// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.ddstore.collective.Communicator;
import org.ddstore.memory.Segment;
import org.ddstore.transport.Attachment;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.types.Cleanup;
import org.ddstore.types.CollectiveMismatchException;

/**
 * The exchange of the addresses of shards among the ranks of a store, by which every rank attaches
 * to the segments of all others. Its methods are collective.
 */
record ShardExchange(DDStore store, Communicator communicator, StoreOptions options) {
  /**
   * Adds one extent per rank.
   *
   * @param target returns the variable to extend, or null for a new one; its exceptions reach all
   *     ranks
   * @param prepare called with the variable before the rows are published
   */
  Variable extend(
      String call,
      Supplier<Variable> target,
      Contribution contribution,
      Consumer<Variable> prepare) {
    List<Attachment> attached = new ArrayList<>();
    try {
      byte[][] offers = communicator.exchange(call, () -> offer(target.get(), contribution));
      Variable existing = target.get();
      Segment own = contribution.segment();
      List<SegmentAddress> addresses = ShardOffer.addresses(call, offers);
      communicator.exchange(
          call + " attach",
          () -> {
            store.reach().share(own, addresses);
            for (int rank = 0; rank < addresses.size(); rank++) {
              attached.add(addresses.get(rank).attach(rank, own.schema(), store.reach()));
            }
            return new byte[0];
          });
      Variable variable =
          existing == null ? store.newVariable(contribution.name(), own.schema()) : existing;
      prepare.accept(variable);
      store.publish(variable, () -> variable.append(own, addresses, attached));
      return variable;
    } catch (RuntimeException | Error e) {
      Stream<Runnable> steps = attached.stream().map(attachment -> attachment::release);
      Segment own = contribution.segment();
      if (own != null) {
        steps = Stream.concat(steps, Stream.of(() -> store.reach().withdraw(own), own::release));
      }
      Cleanup.after(e, steps);
      throw e;
    }
  }

  private byte[] offer(Variable existing, Contribution contribution) throws Exception {
    DDStore.checkWritable(existing, "appended to");
    Segment segment = contribution.seal(options);
    if (existing != null && !existing.schema().equals(segment.schema())) {
      throw new IllegalArgumentException(
          "rows of %s cannot be appended to %s".formatted(segment.schema(), existing));
    }
    store.reach().export(segment);
    return ShardOffer.of(segment, store.reach()).toBytes();
  }

  void adopt(List<Catalog> copies) {
    List<SegmentCopies> adopted = new ArrayList<>();
    byte[][] offers =
        communicator.exchange(
            "adopt()",
            () -> {
              adopted.addAll(adoptable(copies));
              return adopted.toString().getBytes(StandardCharsets.UTF_8);
            });
    checkSame(offers);
    Map<SegmentCopies, List<SegmentCopies.Chosen>> attached = new LinkedHashMap<>();
    try {
      communicator.exchange(
          "adopt() attach",
          () -> {
            adopted.forEach(variable -> attached.put(variable, variable.attachAll(store.reach())));
            return new byte[0];
          });
    } catch (RuntimeException | Error e) {
      attached.values().forEach(all -> all.forEach(chosen -> chosen.attachment().release()));
      throw e;
    }
    attached.forEach(store::publish);
  }

  private List<SegmentCopies> adoptable(List<Catalog> copies) {
    Objects.requireNonNull(copies, "copies is null");
    List<SegmentCopies> variables = Catalog.join(copies);
    if (copies.get(0).ranks() != store.ranks()) {
      throw new IllegalArgumentException(
          "catalog of %d ranks cannot be adopted by a store of %d ranks: the numbers of ranks must be equal"
              .formatted(copies.get(0).ranks(), store.ranks()));
    }
    variables.forEach(variable -> store.checkNew(variable.name()));
    return variables;
  }

  private static void checkSame(byte[]... offers) {
    for (int rank = 1; rank < offers.length; rank++) {
      if (!Arrays.equals(offers[rank], offers[0])) {
        throw new CollectiveMismatchException(
            rank,
            "adopt(): catalog mismatch: rank %d has %s, rank 0 has %s"
                .formatted(
                    rank,
                    new String(offers[rank], StandardCharsets.UTF_8),
                    new String(offers[0], StandardCharsets.UTF_8)));
      }
    }
  }
}
