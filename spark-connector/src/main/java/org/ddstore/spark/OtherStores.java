// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.ddstore.spark.resident.StoreAttachment;
import org.ddstore.spark.resident.StoreMetrics;
import org.ddstore.spark.resident.StoreSnapshot;
import org.ddstore.types.Cleanup;

/** Attachments of one rank to the stores that it reads beside its own. The rank closes them. */
final class OtherStores implements AutoCloseable {
  private final List<StoreReader> readers = new ArrayList<>();
  private final List<StoreRows> rows = new ArrayList<>();
  private final List<StoreMetrics.Watch> watches = new ArrayList<>();

  void attach(List<StoreSnapshot> snapshots) {
    for (StoreSnapshot snapshot : snapshots) {
      StoreReader reader = new StoreReader(StoreAttachment.counted(snapshot));
      readers.add(reader);
      StoreRows other = new StoreRows(snapshot.name(), reader.rows(), snapshot.digest());
      rows.add(other);
      watches.add(StoreMetrics.watchAttached(snapshot, other.loaders()));
    }
  }

  /** Returns the rows of these stores after those of the rank's own. */
  List<StoreRows> with(StoreRows own) {
    return Stream.concat(Stream.of(own), rows.stream()).toList();
  }

  /** Ends the attachments. Idempotent. */
  @Override
  public void close() {
    Cleanup.runAll(
        Stream.concat(
            watches.stream().map(watch -> watch::close),
            readers.stream().map(reader -> reader::close)));
  }
}
