// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.util.List;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.types.StructType;
import org.ddstore.spark.resident.ResidentLayout;
import org.ddstore.spark.resident.ResidentOrigin;
import org.ddstore.spark.resident.ResidentPlaces;
import org.ddstore.spark.resident.StoreOwner;
import org.ddstore.spark.types.ColumnMapping;
import org.ddstore.spark.types.ResidentShard;
import org.ddstore.types.Backing;
import org.ddstore.types.Schema;

/** Facts about a resident store that the driver knows without asking executors. Thread-safe. */
public abstract class StoreFacts {
  private final String name;
  private final ResidentOrigin origin;
  private final StructType sourceSchema;
  private final List<ColumnMapping> columns;
  private final ResidentPlaces places;
  private final StoreOwner owner;
  private final long createdMs = System.currentTimeMillis();

  StoreFacts(
      String name,
      ResidentOrigin origin,
      StructType sourceSchema,
      List<ColumnMapping> columns,
      ResidentLayout layout) {
    this.name = name;
    this.origin = origin;
    this.sourceSchema = sourceSchema;
    this.columns = List.copyOf(columns);
    this.places = new ResidentPlaces(name, origin.session().sparkContext(), layout, this::toString);
    this.owner = StoreOwner.current(origin.session().sparkContext());
  }

  /** {@return the name, by which {@link DDStores#open} finds the store} */
  public final String name() {
    return name;
  }

  /** {@return the user who created the store} */
  public final String owner() {
    return owner.user();
  }

  /** Returns the time of the load, in milliseconds since 1970. */
  final long createdMs() {
    return createdMs;
  }

  /**
   * Throws if the calling thread works for a user other than the owner.
   *
   * @param change verb that names the change, for the message
   */
  final void checkOwner(String change) {
    owner.check(context(), change, name);
  }

  /** {@return the current number of rows} */
  public final long rows() {
    return places.now().rows();
  }

  /** {@return the memory of one copy of the rows, in bytes} */
  public final long bytes() {
    return places.now().bytes();
  }

  /** {@return the schema of the records} */
  public final Schema schema() {
    return places.now().schema();
  }

  /** {@return the stored columns of the DataFrame, with their original types and in their order} */
  public final StructType sourceSchema() {
    return sourceSchema;
  }

  /** Returns the fields of each leaf of {@link #sourceSchema()}. */
  final List<ColumnMapping> columns() {
    return columns;
  }

  /** {@return the number of ranks that hold the store, in all replica groups together} */
  public final int ranks() {
    return places.now().groups().ranks();
  }

  /** {@return the number of ranks of a replica group, which together hold one full copy} */
  public final int width() {
    return places.now().groups().width();
  }

  /**
   * {@return the digest of the rows} It binds every index to the bytes of its record and does not
   * depend on the number of ranks.
   */
  public final String digest() {
    return places.now().digest();
  }

  /** {@return the shards of all replica groups, ordered by append and rank} */
  public final List<ResidentShard> shards() {
    return places.now().shards();
  }

  /** {@return whether the store has been dropped, or its application has ended} */
  public final boolean isDropped() {
    return places.isEnded();
  }

  /** Returns whether the rows are in files on disks. */
  final boolean isInFiles() {
    return origin.settings().backing() == Backing.FILE;
  }

  final SparkContext context() {
    return origin.session().sparkContext();
  }

  final ResidentOrigin origin() {
    return origin;
  }

  final ResidentPlaces places() {
    return places;
  }
}
