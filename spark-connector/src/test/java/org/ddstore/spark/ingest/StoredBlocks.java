// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkEnv;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.storage.BlockManager;
import org.apache.spark.storage.RDDBlockId;
import org.apache.spark.storage.StorageLevel;
import org.ddstore.spark.ingest.OrderedRows.SourcePartition;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/** The blocks of stored partitions, for tests that replace them. */
final class StoredBlocks {
  private StoredBlocks() {}

  /** The block of a partition of the only RDD that is stored. */
  static RDDBlockId only(SparkSession spark, int partition) {
    List<Object> stored =
        CollectionConverters.asJava(spark.sparkContext().getPersistentRDDs().keySet().toSeq());
    assertThat(stored).as("RDDs that are stored").hasSize(1);
    return new RDDBlockId((Integer) stored.get(0), partition);
  }

  /** Stores a partition again, in the opposite order, as another computation of it might. */
  static void storeReversed(RDDBlockId block, int fields) {
    BlockManager blocks = SparkEnv.get().blockManager();
    @SuppressWarnings("unchecked") // Spark chooses the serializer by the tag of a Java RDD
    ClassTag<byte[]> type = (ClassTag<byte[]>) (ClassTag<?>) ClassTag$.MODULE$.apply(Object.class);
    RowChunks.Reader stored =
        new RowChunks.Reader(
            blocks.get(block, type).get().data(), fields, new SourcePartition(null, "block"));
    List<InternalRow> rows = new ArrayList<>();
    while (stored.hasNext()) {
      rows.add(0, stored.next().copy());
    }
    blocks.removeBlock(block, true);
    boolean done =
        blocks.putIterator(
            block,
            new RowChunks.Packer(CollectionConverters.asScala(rows.iterator()), fields),
            StorageLevel.DISK_ONLY(),
            true,
            type);
    assertThat(done).as("whether the block was stored").isTrue();
  }
}
