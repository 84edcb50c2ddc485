// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import org.ddstore.DDStore;
import org.ddstore.ShardWriter;
import org.ddstore.StoreOptions;
import org.ddstore.Variable;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.LocalGroup;
import org.ddstore.contract.Leaks;
import org.ddstore.types.Backing;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/** A store of one rank whose rows are made of their index alone, and a look for what it leaves. */
final class Samples implements AutoCloseable {
  static final int ROWS = 203;
  static final Field IMAGE = Field.fixed("image", DType.UINT8, 6, 5, 3);
  static final int WIDTH = 20;

  private static final StoreOptions OPTIONS = StoreOptions.defaults().backing(Backing.DIRECT);
  private static final Schema SCHEMA =
      Schema.of(
          Field.fixed("id", DType.INT64),
          IMAGE,
          Field.fixed("value", DType.FLOAT32, 4),
          Field.ragged("points", DType.FLOAT32, 2),
          Field.ragged("columns", DType.INT32),
          Field.ragged("values", DType.FLOAT64));

  private final Leaks leaks = new Leaks(Path.of("/nowhere-but-here"));
  private final Communicator communicator = LocalGroup.create(1, Duration.ofMinutes(1)).get(0);
  private final DDStore store = DDStore.open(communicator, OPTIONS);
  private final Variable rows;

  Samples() {
    ShardWriter shard = ShardWriter.create(SCHEMA, OPTIONS);
    for (int row = 0; row < ROWS; row++) {
      shard.append((long) row, image(row), value(row), points(row), columns(row), values(row));
    }
    rows = store.add("rows", shard);
  }

  Variable rows() {
    return rows;
  }

  DDStore store() {
    return store;
  }

  static byte[] image(int row) {
    byte[] bytes = new byte[IMAGE.bytes()];
    new Random(row).nextBytes(bytes);
    return bytes;
  }

  static float[] value(int row) {
    Random random = new Random(row + 1000);
    return new float[] {
      row, random.nextFloat(), -random.nextFloat() * 1e30f, random.nextFloat() / 3
    };
  }

  static float[] points(int row) {
    float[] points = new float[2 * (row % 5)];
    for (int i = 0; i < points.length; i++) {
      points[i] = row + i / 10f;
    }
    return points;
  }

  static int[] columns(int row) {
    int[] columns = new int[row % 7];
    for (int i = 0; i < columns.length; i++) {
      columns[i] = (row + 3 * i) % WIDTH; // distinct: 3 * 6 < 20
    }
    return columns;
  }

  static double[] values(int row) {
    double[] values = new double[row % 7];
    for (int i = 0; i < values.length; i++) {
      values[i] = row + i + 0.5;
    }
    return values;
  }

  @Override
  public void close() throws IOException {
    store.close();
    communicator.close();
    leaks.assertNothingHeld();
  }
}
