// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.ddstore.Batch;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/** Hasher of rows in the form in which a batch gives them to users: tensors of one type. */
final class BatchRows {
  private static final String SIZE = ".size";
  private static final String INDICES = ".indices";
  private static final String VALUES = ".values";

  private final RowHash hash = new RowHash();
  private final List<Column> columns = new ArrayList<>();

  /**
   * Checks that the fields of the schema are those of the leaves.
   *
   * @throws DDStoreException if a field is missing or superfluous
   */
  BatchRows(Schema schema, List<Leaf> leaves) {
    Set<String> fields = new TreeSet<>(schema.fields().stream().map(Field::name).toList());
    for (Leaf leaf : leaves) {
      String name = leaf.name();
      if (leaf.form() == Leaf.Form.VECTOR && fields.contains(name + SIZE)) {
        fields.removeAll(List.of(name + SIZE, name + INDICES, name + VALUES));
        columns.add(
            new Sparse(
                new Plain(schema, name + SIZE),
                new Plain(schema, name + INDICES),
                new Plain(schema, name + VALUES)));
      } else if (!fields.remove(name)) {
        throw new DDStoreException("the store has no field \"%s\": %s".formatted(name, schema));
      } else {
        Plain plain = new Plain(schema, name);
        columns.add(leaf.form() == Leaf.Form.VECTOR ? new Dense(plain) : plain);
      }
    }
    if (!fields.isEmpty()) {
      throw new DDStoreException("Spark SQL has no columns for the fields " + fields);
    }
  }

  /** Opens another batch, or the same one after it was refilled. */
  void open(Batch batch) {
    columns.forEach(column -> column.open(batch));
  }

  /** Writes the hash of a row of the batch to {@code target}. */
  void hash(int row, byte[] target) {
    for (Column column : columns) {
      int start = hash.beginColumn();
      hash.endColumn(start, column.add(row, hash));
    }
    hash.finish(target, 0);
  }

  private interface Column {
    void open(Batch batch);

    /** Writes the elements of a row and returns their number. */
    int add(int row, RowHash hash);
  }

  /** A field whose values are hashed unchanged. */
  private static final class Plain implements Column {
    private final Field field;
    private ByteBuffer values;
    private ByteBuffer offsets;

    Plain(Schema schema, String name) {
      this.field = schema.field(name);
    }

    @Override
    public void open(Batch batch) {
      values = littleEndian(batch.field(field.name()).asByteBuffer());
      offsets = field.isRagged() ? littleEndian(batch.offsets(field.name()).asByteBuffer()) : null;
    }

    private static ByteBuffer littleEndian(ByteBuffer buffer) {
      return buffer.duplicate().order(ByteOrder.LITTLE_ENDIAN);
    }

    long first(int row) {
      return offsets == null ? row : offsets.getLong(row * Long.BYTES);
    }

    long count(int row) {
      return first(row + 1) - first(row);
    }

    ByteBuffer values() {
      return values;
    }

    @Override
    public int add(int row, RowHash hash) {
      int bytes = Math.toIntExact(count(row) * field.bytes());
      ByteBuffer to = hash.room(bytes);
      to.put(to.position(), values, Math.toIntExact(first(row) * field.bytes()), bytes);
      to.position(to.position() + bytes);
      return bytes / field.dtype().bytes();
    }
  }

  /** A vector that is stored as its values. */
  private record Dense(Plain plain) implements Column {
    @Override
    public void open(Batch batch) {
      plain.open(batch);
    }

    @Override
    public int add(int row, RowHash hash) {
      int size = (int) plain.count(row) * plain.field.elements();
      int first = (int) plain.first(row) * plain.field.elements();
      RowHash.VectorEntries entries = new RowHash.VectorEntries(hash, size);
      for (int i = 0; i < size; i++) {
        entries.add(i, plain.values().getDouble((first + i) * Double.BYTES));
      }
      return entries.count();
    }
  }

  /** A vector that is stored as size, indices and values. */
  private record Sparse(Plain size, Plain indices, Plain values) implements Column {
    @Override
    public void open(Batch batch) {
      size.open(batch);
      indices.open(batch);
      values.open(batch);
    }

    @Override
    public int add(int row, RowHash hash) {
      RowHash.VectorEntries entries =
          new RowHash.VectorEntries(hash, size.values().getInt(row * Integer.BYTES));
      int first = (int) values.first(row);
      for (int i = 0; i < values.count(row); i++) {
        entries.add(
            indices.values().getInt((first + i) * Integer.BYTES),
            values.values().getDouble((first + i) * Double.BYTES));
      }
      return entries.count();
    }
  }
}
