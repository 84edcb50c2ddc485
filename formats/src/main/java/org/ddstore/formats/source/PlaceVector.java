// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.source;

import java.util.stream.LongStream;
import org.apache.spark.sql.connector.catalog.MetadataColumn;
import org.apache.spark.sql.execution.vectorized.ConstantColumnVector;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.unsafe.types.UTF8String;
import org.ddstore.spark.source.FieldVector;

/** The column {@code _metadata}: file and index of each row, as Spark has it for Parquet. */
final class PlaceVector extends FieldVector {
  private static final String FILE_PATH = "file_path";
  private static final String FILE_NAME = "file_name";
  private static final String ROW_INDEX = "row_index";

  private final ColumnVector[] children;

  /** The column in a catalog. */
  static final MetadataColumn COLUMN =
      new MetadataColumn() {
        @Override
        public String name() {
          return "_metadata";
        }

        @Override
        public DataType dataType() {
          return new StructType()
              .add(FILE_PATH, DataTypes.StringType, false)
              .add(FILE_NAME, DataTypes.StringType, false)
              .add(ROW_INDEX, DataTypes.LongType, false);
        }

        @Override
        public boolean isNullable() {
          return false;
        }
      };

  /**
   * @param type fields that the query needs
   * @param path path of the file of all rows
   * @param from index of the first row in the file
   */
  PlaceVector(StructType type, String path, String name, long from, int rows) {
    super(type);
    children = new ColumnVector[type.size()];
    for (int i = 0; i < children.length; i++) {
      children[i] =
          switch (type.fields()[i].name()) {
            case FILE_PATH -> text(path, rows);
            case FILE_NAME -> text(name, rows);
            case ROW_INDEX ->
                new PrimitiveVector(
                    DataTypes.LongType, LongStream.range(from, from + rows).toArray());
            default -> throw new IllegalArgumentException("no metadata " + type.fields()[i].name());
          };
    }
  }

  private static ColumnVector text(String text, int rows) {
    ConstantColumnVector vector = new ConstantColumnVector(rows, DataTypes.StringType);
    vector.setUtf8String(UTF8String.fromString(text));
    return vector;
  }

  @Override
  public ColumnVector getChild(int ordinal) {
    return children[ordinal];
  }

  @Override
  public void close() {
    for (ColumnVector child : children) {
      child.close();
    }
  }
}
