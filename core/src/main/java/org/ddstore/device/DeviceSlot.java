// SPDX-License-Identifier: Apache-2.0
package org.ddstore.device;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.ddstore.Tensor;
import org.ddstore.loader.BatchFeed;
import org.ddstore.loader.LoadedBatch;
import org.ddstore.memory.DeviceStream;
import org.ddstore.types.Cleanup;

/**
 * The memory of one batch on the device, reused for later batches. Two fences guard it:
 *
 * <ul>
 *   <li>The batch on the host is given back to its loader only when the copy is complete.
 *   <li>The next copy into this memory waits, on the device, for the work of all streams that used
 *       the previous batch.
 * </ul>
 */
final class DeviceSlot {
  /** Room for a larger batch of ragged fields: one eighth. */
  private static final int ROOM_SHIFT = 3;

  /**
   * Properties of a batch, in addition to its tensors.
   *
   * @param samples number of samples, including padding
   */
  record Facts(long epoch, long number, int samples, int padding, double share) {}

  private final DeviceStream stream;
  private final BatchFeed feed;
  private final Map<String, TensorPlace> fields = new LinkedHashMap<>();
  private final Map<String, TensorPlace> offsets = new LinkedHashMap<>();
  private final Set<Long> consumers = new LinkedHashSet<>();
  private final List<Long> usedEvents = new ArrayList<>();
  private TensorPlace weights;
  private Facts facts;
  private long[] samples = new long[0];
  private long address;
  private long capacityBytes;
  private long copied; // event; 0 until there is one
  private int used; // recorded events of consumers
  private LoadedBatch host; // null once its copy is complete

  DeviceSlot(DeviceStream stream, BatchFeed feed) {
    this.stream = stream;
    this.feed = feed;
  }

  /**
   * Queues the copy of a batch, which this slot closes when the copy is complete. Blocks only while
   * the previous copy into this memory is not complete, or if the memory must grow. If it fails,
   * the batch is closed.
   */
  void start(LoadedBatch batch) {
    try {
      releaseHost();
      describe(batch);
      long bytes = place(batch);
      ensure(bytes);
      for (int i = 0; i < used; i++) {
        stream.await(usedEvents.get(i));
      }
      used = 0;
      fields.forEach((name, place) -> copy(batch.field(name), place));
      offsets.forEach((name, place) -> copy(batch.offsets(name), place));
      copy(batch.weights(), weights);
      stream.record(copied);
    } catch (RuntimeException | Error e) {
      Cleanup.after(e, Stream.of(stream::synchronize, batch::close)); // some copies may be queued
      throw e;
    }
    host = batch;
  }

  private void describe(LoadedBatch batch) {
    facts =
        new Facts(batch.epoch(), batch.number(), batch.samples(), batch.padding(), batch.share());
    if (samples.length < facts.samples()) {
      samples = new long[facts.samples()];
    }
    for (int i = 0; i < facts.samples(); i++) {
      samples[i] = batch.sample(i);
    }
  }

  /** Places all tensors one after the other and returns their size in bytes. */
  private long place(LoadedBatch batch) {
    fields.clear();
    offsets.clear();
    long end = 0;
    for (String name : feed.names(batch)) {
      TensorPlace place = TensorPlace.of(batch.field(name), end);
      fields.put(name, place);
      end = place.end();
      if (feed.hasOffsets(batch, name)) {
        TensorPlace rows = TensorPlace.of(batch.offsets(name), end);
        offsets.put(name, rows);
        end = rows.end();
      }
    }
    weights = TensorPlace.of(batch.weights(), end);
    return weights.end();
  }

  private void ensure(long bytes) {
    if (copied == 0) {
      copied = stream.createEvent();
    }
    if (capacityBytes < bytes) {
      freeMemory();
      long room = bytes + (bytes >> ROOM_SHIFT);
      address = stream.allocate(room);
      capacityBytes = room;
    }
  }

  /** Frees the memory when all work that uses it is complete. */
  private void freeMemory() {
    if (capacityBytes > 0) {
      awaitConsumers();
      capacityBytes = 0;
      stream.free(address);
    }
  }

  private void awaitConsumers() {
    List<Long> recorded = List.copyOf(usedEvents.subList(0, used));
    used = 0;
    Cleanup.runAll(recorded.stream().map(event -> () -> stream.synchronize(event)));
  }

  private void copy(Tensor tensor, TensorPlace place) {
    if (place.bytes() > 0) {
      stream.copyIn(address + place.offset(), tensor.asByteBuffer());
    }
  }

  /** Gives the batch on the host back if its copy is complete. Does not block. */
  void releaseHostIfDone() {
    if (host != null && stream.isDone(copied)) {
      closeHost();
    }
  }

  /** Gives the batch on the host back. Blocks until its copy is complete. */
  void releaseHost() {
    if (host != null) {
      Cleanup.runAll(Stream.of(() -> stream.synchronize(copied), this::closeHost));
    }
  }

  private void closeHost() {
    LoadedBatch closing = host;
    host = null;
    closing.close();
  }

  void awaitOn(long consumer) {
    consumers.add(consumer); // first: if the call fails, work may be there nevertheless
    stream.await(copied, consumer);
  }

  void synchronize() {
    stream.synchronize(copied);
  }

  /** Marks the end of the consumers' work on the batch. Does not block. */
  void endUse() {
    for (long consumer : consumers) {
      if (used == usedEvents.size()) {
        usedEvents.add(stream.createEvent());
      }
      stream.record(usedEvents.get(used), consumer);
      used++;
    }
    consumers.clear();
  }

  /** Frees everything; no copy is queued. All steps run, and the first error is thrown. */
  void free() {
    Cleanup.runAll(
        Stream.of(
            this::endUse, // of a batch that was not closed
            this::awaitConsumers,
            this::freeMemory,
            this::destroyEvents));
  }

  private void destroyEvents() {
    List<Long> events = new ArrayList<>(usedEvents);
    if (copied != 0) {
      events.add(copied);
    }
    usedEvents.clear();
    copied = 0;
    Cleanup.runAll(events.stream().map(event -> () -> stream.destroyEvent(event)));
  }

  DeviceStream stream() {
    return stream;
  }

  long address() {
    return address;
  }

  Facts facts() {
    return facts;
  }

  long sample(int i) {
    return samples[i];
  }

  /** Returns the numbers of the samples, from index 0; the array may be longer. */
  long[] samples() {
    return samples;
  }

  Map<String, TensorPlace> fields() {
    return fields;
  }

  Map<String, TensorPlace> offsets() {
    return offsets;
  }

  TensorPlace weights() {
    return weights;
  }
}
