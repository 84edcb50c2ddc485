// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.IntStream;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.apache.spark.util.TaskCompletionListener;
import org.ddstore.spark.RankPlaces;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.task.Versioned;

/**
 * A scan with one row per rank, in a partition of its own beside the shard of the rank: the source
 * of a barrier stage whose tasks are ranks in Python. A row has the number of the rank, the
 * executor of its shard and that of its task, and the path of a file with a handle, which lives as
 * long as the task.
 */
final class RanksScan implements Scan, Batch {
  static final StructType SCHEMA =
      new StructType()
          .add("rank", DataTypes.IntegerType, false)
          .add("home", DataTypes.StringType, false)
          .add("executor", DataTypes.StringType, false)
          .add("handle", DataTypes.StringType, false);

  private final ResidentStore store;

  RanksScan(ResidentStore store) {
    this.store = store;
  }

  @Override
  public StructType readSchema() {
    return SCHEMA;
  }

  @Override
  public String description() {
    return "ddstore %s, ranks".formatted(store.name());
  }

  @Override
  public Batch toBatch() {
    return this;
  }

  @Override
  public InputPartition[] planInputPartitions() {
    RankPlaces places = RankPlaces.now(store);
    return IntStream.range(0, places.homes().size())
        .mapToObj(
            rank ->
                new Place(
                    rank, Versioned.of(places.homes().get(rank)), places.locations().get(rank)))
        .toArray(InputPartition[]::new);
  }

  @Override
  public PartitionReaderFactory createReaderFactory() {
    return new Factory(RankPlaces.handle(store));
  }

  private record Place(int rank, Versioned<String> home, String location)
      implements InputPartition {
    private static final long serialVersionUID = 1L;

    @Override
    public String[] preferredLocations() {
      return location.isEmpty() ? new String[0] : new String[] {location};
    }
  }

  /**
   * A factory of readers.
   *
   * @param handle text of a handle, with its key
   */
  private record Factory(String handle) implements PartitionReaderFactory {
    private static final long serialVersionUID = 1L;

    @Override
    public PartitionReader<InternalRow> createReader(InputPartition partition) {
      return new OneRow((Place) partition, handle);
    }

    @Override
    public String toString() {
      return "ranks"; // without the key
    }
  }

  private static final class OneRow implements PartitionReader<InternalRow> {
    private final Place place;
    private final String handle;
    private InternalRow row;

    OneRow(Place place, String handle) {
      this.place = place;
      this.handle = handle;
    }

    @Override
    public boolean next() throws IOException {
      if (row != null) {
        return false;
      }
      SparkEnv env = SparkEnv.get();
      row =
          new GenericInternalRow(
              new Object[] {
                place.rank(),
                UTF8String.fromString(place.home().value()),
                UTF8String.fromString(env.executorId()),
                UTF8String.fromString(file(env).toString())
              });
      return true;
    }

    /** Writes the handle to a private file of this executor, which ends with the task. */
    private Path file(SparkEnv env) throws IOException {
      File[] folders = env.blockManager().diskBlockManager().localDirs();
      Path file =
          Files.createTempFile(
              folders[0].toPath(),
              "ddstore-rank",
              ".json",
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      TaskContext.get()
          .addTaskCompletionListener(
              (TaskCompletionListener) context -> file.toFile().delete()); // may be gone
      Files.writeString(file, handle + "\n");
      return file;
    }

    @Override
    public InternalRow get() {
      return row;
    }

    @Override
    public void close() {}
  }
}
