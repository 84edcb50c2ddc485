// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Locale;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.ddstore.types.DType;

/**
 * The type of one element of a column. Spark has no unsigned integers and no half precision, so
 * each type names the SQL type that holds all its values, and the type in which a store keeps them.
 */
public enum ElementType {
  /** A byte that is 0 for false. */
  BOOL(1, DataTypes.BooleanType, DType.BOOL) {
    @Override
    public boolean[] decode(ByteBuffer from, int count) {
      boolean[] to = new boolean[count];
      for (int i = 0; i < count; i++) {
        to[i] = from.get() != 0;
      }
      return to;
    }
  },
  /** An 8-bit signed integer. */
  INT8(1, DataTypes.ByteType, DType.INT8) {
    @Override
    public byte[] decode(ByteBuffer from, int count) {
      byte[] to = new byte[count];
      from.get(to);
      return to;
    }
  },
  /** An 8-bit unsigned integer: SMALLINT, or BINARY for a column of arrays. */
  UINT8(1, DataTypes.ShortType, DType.UINT8) {
    @Override
    public short[] decode(ByteBuffer from, int count) {
      short[] to = new short[count];
      for (int i = 0; i < count; i++) {
        to[i] = (short) (from.get() & 0xFF);
      }
      return to;
    }
  },
  /** A 16-bit signed integer. */
  INT16(2, DataTypes.ShortType, DType.INT16) {
    @Override
    public short[] decode(ByteBuffer from, int count) {
      short[] to = new short[count];
      from.asShortBuffer().get(to);
      advance(from, count);
      return to;
    }
  },
  /** A 16-bit unsigned integer, an INT. */
  UINT16(2, DataTypes.IntegerType, DType.INT32) {
    @Override
    public int[] decode(ByteBuffer from, int count) {
      int[] to = new int[count];
      for (int i = 0; i < count; i++) {
        to[i] = from.getShort() & 0xFFFF;
      }
      return to;
    }
  },
  /** A 32-bit signed integer. */
  INT32(4, DataTypes.IntegerType, DType.INT32) {
    @Override
    public int[] decode(ByteBuffer from, int count) {
      int[] to = new int[count];
      from.asIntBuffer().get(to);
      advance(from, count);
      return to;
    }
  },
  /** A 32-bit unsigned integer, a BIGINT. */
  UINT32(4, DataTypes.LongType, DType.INT64) {
    @Override
    public long[] decode(ByteBuffer from, int count) {
      long[] to = new long[count];
      for (int i = 0; i < count; i++) {
        to[i] = Integer.toUnsignedLong(from.getInt());
      }
      return to;
    }
  },
  /** A 64-bit signed integer. */
  INT64(8, DataTypes.LongType, DType.INT64) {
    @Override
    public long[] decode(ByteBuffer from, int count) {
      long[] to = new long[count];
      from.asLongBuffer().get(to);
      advance(from, count);
      return to;
    }
  },
  /** A 64-bit unsigned integer below 2<sup>63</sup>, a BIGINT; larger values are an error. */
  UINT64(8, DataTypes.LongType, DType.INT64) {
    @Override
    public long[] decode(ByteBuffer from, int count) {
      long[] to = INT64.decodeLongs(from, count);
      for (long value : to) {
        if (value < 0) {
          throw new ArithmeticException(
              "uint64 value %s is above the maximum of BIGINT, %,d: convert the data to float64 or int64"
                  .formatted(Long.toUnsignedString(value), Long.MAX_VALUE));
        }
      }
      return to;
    }
  },
  /** A number of IEEE 754 binary16: a FLOAT, which has the same value. */
  FLOAT16(2, DataTypes.FloatType, DType.FLOAT32) {
    @Override
    public float[] decode(ByteBuffer from, int count) {
      float[] to = new float[count];
      for (int i = 0; i < count; i++) {
        to[i] = Float16.toFloat(from.getShort());
      }
      return to;
    }
  },
  /** A 32-bit IEEE 754 number. */
  FLOAT32(4, DataTypes.FloatType, DType.FLOAT32) {
    @Override
    public float[] decode(ByteBuffer from, int count) {
      float[] to = new float[count];
      from.asFloatBuffer().get(to);
      advance(from, count);
      return to;
    }
  },
  /** A 64-bit IEEE 754 number. */
  FLOAT64(8, DataTypes.DoubleType, DType.FLOAT64) {
    @Override
    public double[] decode(ByteBuffer from, int count) {
      double[] to = new double[count];
      from.asDoubleBuffer().get(to);
      advance(from, count);
      return to;
    }
  },
  /** Text, which has no fixed size. */
  TEXT(0, DataTypes.StringType, null) {
    @Override
    public Object decode(ByteBuffer from, int count) {
      throw new UnsupportedOperationException("text has no fixed size");
    }
  };

  private final int bytes;

  @SuppressWarnings("ImmutableEnumChecker") // types of Spark do not change
  private final DataType sqlType;

  private final DType stored;

  ElementType(int bytes, DataType sqlType, DType stored) {
    this.bytes = bytes;
    this.sqlType = sqlType;
    this.stored = stored;
  }

  /**
   * {@return the type of numbers that NumPy and zarr 2 name by kind and size, such as {@code f4};
   * null if there is none}
   *
   * @param code kind, one of b, i, u and f, and size in bytes
   */
  public static ElementType ofCode(String code) {
    return Arrays.stream(values())
        .filter(type -> type.bytes > 0 && code.equals(type.toString().charAt(0) + "" + type.bytes))
        .findFirst()
        .orElse(null);
  }

  /**
   * {@return the type of numbers with a name, such as {@code float32}; null if there is none}
   *
   * @param name name in lower case
   */
  public static ElementType ofName(String name) {
    return Arrays.stream(values())
        .filter(type -> type.bytes > 0 && type.toString().equals(name))
        .findFirst()
        .orElse(null);
  }

  /** {@return the name, such as {@code float32}} */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** {@return the size of one element in a file in bytes: 1, 2, 4 or 8; 0 for text} */
  public int bytes() {
    return bytes;
  }

  /** {@return the SQL type of one element} */
  public DataType sqlType() {
    return sqlType;
  }

  /** {@return the type in which a store keeps one element; null for text} */
  public DType stored() {
    return stored;
  }

  /**
   * Decodes elements into an array of the Java type that Spark uses for {@link #sqlType()}.
   *
   * @param from elements, in the byte order of the buffer; its position is moved behind them
   * @param count number of elements
   * @return a new array of {@code count} elements: {@code boolean[]}, {@code byte[]}, {@code
   *     short[]}, {@code int[]}, {@code long[]}, {@code float[]} or {@code double[]}
   * @throws ArithmeticException if the SQL type does not contain a value
   */
  public abstract Object decode(ByteBuffer from, int count);

  /**
   * Returns whether a store keeps the bytes that a little-endian file has. Booleans are not so,
   * because a file can have other bytes than 0 and 1, nor are uint64, some of which are refused.
   */
  boolean isStoredAsInFiles() {
    return switch (this) {
      case INT8, UINT8, INT16, INT32, INT64, FLOAT32, FLOAT64 -> true;
      case BOOL, UINT16, UINT32, UINT64, FLOAT16, TEXT -> false;
    };
  }

  private long[] decodeLongs(ByteBuffer from, int count) {
    return (long[]) decode(from, count);
  }

  final void advance(ByteBuffer buffer, int count) {
    buffer.position(buffer.position() + count * bytes);
  }
}
