package org.ddstore;

import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.ddstore.memory.Segment;
import org.ddstore.types.Schema;

/** What one rank brings to an add or append: a shard that is built, or how to build it. */
final class Contribution implements AutoCloseable {
  private final Callable<Schema> schema;
  private final Consumer<ShardWriter> rows;
  private ShardWriter writer;
  private Segment segment;
  private String name;

  /** Builds the shard when the collective has begun, so that a failure reaches all ranks. */
  Contribution(Callable<Schema> schema, Consumer<ShardWriter> rows) {
    this.schema = schema;
    this.rows = rows;
  }

  /** Takes over a shard that is built. */
  Contribution(ShardWriter writer) {
    this(
        () -> {
          throw new NullPointerException("shard is null");
        },
        unused -> {});
    this.writer = writer;
  }

  Contribution named(String newName) {
    name = newName;
    return this;
  }

  /** The name of the variable to be added; null for an append. */
  String name() {
    return name;
  }

  /** Builds the shard if need be and seals it. */
  Segment seal(StoreOptions options) throws Exception {
    if (writer == null) {
      writer = ShardWriter.create(schema.call(), options);
    }
    rows.accept(writer);
    segment = writer.seal();
    return segment;
  }

  /** The sealed shard, or null. */
  Segment segment() {
    return segment;
  }

  /** Frees what was not sealed. */
  @Override
  public void close() {
    if (writer != null) {
      writer.close();
    }
  }
}
