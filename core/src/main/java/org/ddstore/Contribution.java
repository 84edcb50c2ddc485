// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.ddstore.memory.Segment;
import org.ddstore.types.Schema;

/** The shard that one rank contributes to an add or append: complete, or the steps to build it. */
final class Contribution implements AutoCloseable {
  private final Callable<Schema> schema;
  private final Consumer<ShardWriter> rows;
  private ShardWriter writer;
  private Segment segment;
  private String name;

  /** Creates a contribution that builds the shard inside the collective. */
  Contribution(Callable<Schema> schema, Consumer<ShardWriter> rows) {
    this.schema = schema;
    this.rows = rows;
  }

  /** Creates a contribution that takes ownership of a complete shard. */
  Contribution(ShardWriter writer) {
    this(
        () -> {
          throw new NullPointerException("shard is null");
        },
        unused -> {});
    this.writer = writer;
  }

  Contribution named(String name) {
    this.name = name;
    return this;
  }

  /** Returns the name of the variable to add; null for an append. */
  String name() {
    return name;
  }

  /** Builds the shard if necessary and seals it. */
  Segment seal(StoreOptions options) throws Exception {
    if (writer == null) {
      writer = ShardWriter.create(schema.call(), options);
    }
    rows.accept(writer);
    segment = writer.seal();
    return segment;
  }

  /** Returns the sealed shard; null before {@link #seal}. */
  Segment segment() {
    return segment;
  }

  /** Frees the memory of a shard that was not sealed. */
  @Override
  public void close() {
    if (writer != null) {
      writer.close();
    }
  }
}
