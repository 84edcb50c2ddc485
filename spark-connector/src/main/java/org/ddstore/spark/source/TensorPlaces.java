// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import java.nio.ByteBuffer;
import org.ddstore.Batch;
import org.ddstore.memory.RawAddress;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/** The locations of fields in the tensors of a batch filled by a reader. */
final class TensorPlaces implements FieldPlaces {
  private final Batch batch;
  private final Schema schema;

  /**
   * @param batch batch, owned by the caller and open as long as the values are read
   */
  TensorPlaces(Batch batch) {
    this.batch = batch;
    this.schema = batch.schema();
  }

  private long values(Field field) {
    return RawAddress.of(batch.field(field.name()).asByteBuffer());
  }

  private ByteBuffer offsets(Field field) {
    return batch.offsets(field.name()).asByteBuffer();
  }

  @Override
  public Places fixed(int field) {
    Field type = schema.field(field);
    return Places.strided(values(type), type.bytes());
  }

  @Override
  public Places ragged(int field) {
    Field type = schema.field(field);
    long base = values(type);
    ByteBuffer offsets = offsets(type);
    long[] starts = new long[batch.rows()];
    for (int i = 0; i < starts.length; i++) {
      starts[i] = base + offsets.getLong(i * Long.BYTES) * type.bytes();
    }
    return Places.scattered(0, starts);
  }

  @Override
  public int[] counts(int field) {
    ByteBuffer offsets = offsets(schema.field(field));
    int[] counts = new int[batch.rows()];
    for (int i = 0; i < counts.length; i++) {
      counts[i] = (int) (offsets.getLong((i + 1) * Long.BYTES) - offsets.getLong(i * Long.BYTES));
    }
    return counts;
  }

  @Override
  public boolean lasting() {
    return false;
  }
}
