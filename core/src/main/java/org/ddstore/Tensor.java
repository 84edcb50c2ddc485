// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Objects;
import org.ddstore.types.DType;
import org.ddstore.types.Field;

/**
 * A dense, row-major array of one element type: a view of a Java array or a byte buffer, never a
 * copy. The input and output type of a store. Not thread-safe.
 */
public final class Tensor {
  private final DType dtype;
  private final long[] shape;
  private final long elements;
  private final TensorMemory memory;
  private final Lease lease; // null if the caller owns the memory

  private Tensor(DType dtype, long[] shape, TensorMemory memory) {
    this(dtype, shape, memory, null);
  }

  private Tensor(DType dtype, long[] dimensions, TensorMemory memory, Lease lease) {
    this.lease = lease;
    this.dtype = Objects.requireNonNull(dtype, "dtype is null");
    this.shape = dimensions.clone(); // a copy, so that the caller cannot change a checked shape
    long count = 1;
    for (long dimension : shape) {
      if (dimension < 0) {
        throw new IllegalArgumentException(
            "dimension %d of shape %s is negative".formatted(dimension, Arrays.toString(shape)));
      }
      count = Math.multiplyExact(count, dimension);
    }
    this.elements = count;
    this.memory = memory;
    long bytes = Math.multiplyExact(count, dtype.bytes());
    if (memory.bytes() < bytes) {
      throw new IllegalArgumentException(
          "tensor of %s and shape %s needs %,d bytes, but the memory has %,d"
              .formatted(dtype, Arrays.toString(shape), bytes, memory.bytes()));
    }
  }

  /**
   * Wraps {@code values} as FLOAT32; without a shape, one dimension.
   *
   * @param values values in row-major order; not copied
   * @param shape dimensions; by default one, of the number of values
   * @return a tensor over the same memory
   */
  public static Tensor wrap(float[] values, long... shape) {
    Objects.requireNonNull(values, "values is null");
    Objects.requireNonNull(shape, "shape is null");
    return ofArray(DType.FLOAT32, values, values.length, shape);
  }

  /**
   * Wraps {@code values} as FLOAT64; without a shape, one dimension.
   *
   * @param values values in row-major order; not copied
   * @param shape dimensions; by default one, of the number of values
   * @return a tensor over the same memory
   */
  public static Tensor wrap(double[] values, long... shape) {
    Objects.requireNonNull(values, "values is null");
    Objects.requireNonNull(shape, "shape is null");
    return ofArray(DType.FLOAT64, values, values.length, shape);
  }

  /**
   * Wraps {@code values} as INT32; without a shape, one dimension.
   *
   * @param values values in row-major order; not copied
   * @param shape dimensions; by default one, of the number of values
   * @return a tensor over the same memory
   */
  public static Tensor wrap(int[] values, long... shape) {
    Objects.requireNonNull(values, "values is null");
    Objects.requireNonNull(shape, "shape is null");
    return ofArray(DType.INT32, values, values.length, shape);
  }

  /**
   * Wraps {@code values} as INT64; without a shape, one dimension.
   *
   * @param values values in row-major order; not copied
   * @param shape dimensions; by default one, of the number of values
   * @return a tensor over the same memory
   */
  public static Tensor wrap(long[] values, long... shape) {
    Objects.requireNonNull(values, "values is null");
    Objects.requireNonNull(shape, "shape is null");
    return ofArray(DType.INT64, values, values.length, shape);
  }

  /**
   * Wraps {@code values} as BOOL; without a shape, one dimension.
   *
   * @param values values in row-major order; not copied
   * @param shape dimensions; by default one, of the number of values
   * @return a tensor over the same memory
   */
  public static Tensor wrap(boolean[] values, long... shape) {
    Objects.requireNonNull(values, "values is null");
    Objects.requireNonNull(shape, "shape is null");
    return ofArray(DType.BOOL, values, values.length, shape);
  }

  /**
   * Wraps {@code values} as INT16, FLOAT16 or BFLOAT16; without a shape, one dimension.
   *
   * @param dtype element type of the values
   * @param values values in row-major order; not copied
   * @param shape dimensions; by default one, of the number of values
   * @return a tensor over the same memory
   * @throws IllegalArgumentException if {@code dtype} is another type
   */
  public static Tensor wrap(DType dtype, short[] values, long... shape) {
    Objects.requireNonNull(dtype, "dtype is null");
    Objects.requireNonNull(values, "values is null");
    Objects.requireNonNull(shape, "shape is null");
    if (dtype.bytes() != Short.BYTES) {
      throw new IllegalArgumentException(
          "element type " + dtype + " is not int16, float16 or bfloat16");
    }
    return ofArray(dtype, values, values.length, shape);
  }

  /**
   * Wraps {@code values} as INT8, UINT8 or BOOL; without a shape, one dimension. Bytes of BOOL
   * should be 0 or 1; other values are not changed.
   *
   * @param dtype element type of the values
   * @param values values in row-major order; not copied
   * @param shape dimensions; by default one, of the number of values
   * @return a tensor over the same memory
   * @throws IllegalArgumentException if {@code dtype} is another type
   */
  public static Tensor wrap(DType dtype, byte[] values, long... shape) {
    Objects.requireNonNull(dtype, "dtype is null");
    Objects.requireNonNull(values, "values is null");
    Objects.requireNonNull(shape, "shape is null");
    if (dtype.bytes() != 1) {
      throw new IllegalArgumentException("element type " + dtype + " is not int8, uint8 or bool");
    }
    return ofArray(dtype, values, values.length, shape);
  }

  /**
   * Wraps the bytes of {@code buffer} from 0 to its limit as {@code dtype}, little-endian
   * regardless of the buffer's byte order. Does not change the buffer's position and limit.
   *
   * @param dtype element type of the values
   * @param buffer buffer of the values; not copied
   * @param shape dimensions; by default one, of the number of values
   * @return a tensor over the same memory
   * @throws IllegalArgumentException if the buffer is too small for the shape
   */
  public static Tensor wrap(DType dtype, ByteBuffer buffer, long... shape) {
    Objects.requireNonNull(dtype, "dtype is null");
    Objects.requireNonNull(buffer, "buffer is null");
    Objects.requireNonNull(shape, "shape is null");
    ByteBuffer view = buffer.duplicate().clear().limit(buffer.limit());
    return new Tensor(dtype, shape, TensorMemory.of(view));
  }

  /**
   * {@return a view of this tensor that throws {@link IllegalStateException} after {@code lease}
   * has ended}
   *
   * @param lease lease of the memory
   */
  public Tensor leasedBy(Lease lease) {
    Objects.requireNonNull(lease, "lease is null");
    return new Tensor(dtype, shape, memory(), lease);
  }

  private static Tensor ofArray(DType dtype, Object array, long length, long... shape) {
    long[] dimensions = shape.length == 0 ? new long[] {length} : shape;
    Tensor tensor = new Tensor(dtype, dimensions, TensorMemory.ofArray(array));
    if (tensor.elements != length) {
      throw new IllegalArgumentException(
          "shape %s has %,d elements, but the array has %,d"
              .formatted(Arrays.toString(shape), tensor.elements, length));
    }
    return tensor;
  }

  /** {@return the element type} */
  public DType dtype() {
    return dtype;
  }

  /** {@return a copy of the dimensions} */
  public long[] shape() {
    return shape.clone();
  }

  /** {@return the first dimension; 1 for a scalar} */
  public long rows() {
    return shape.length == 0 ? 1 : shape[0];
  }

  /** {@return the number of elements} */
  public long elements() {
    return elements;
  }

  /** {@return the size of all elements in bytes} */
  public long bytes() {
    return elements * dtype.bytes();
  }

  /** {@return whether this tensor is read-only} */
  public boolean isReadOnly() {
    return memory.isReadOnly();
  }

  /** Returns whether rows of this tensor have the type of a field, whose shape is {@code row}. */
  boolean hasRowsOf(Field field, int... row) {
    if (field.isRagged() || dtype != field.dtype() || shape.length != row.length + 1) {
      return false;
    }
    for (int i = 0; i < row.length; i++) {
      if (row[i] != shape[i + 1]) {
        return false;
      }
    }
    return true;
  }

  Field rowField(String name) {
    if (shape.length == 0) {
      throw new IllegalArgumentException("a scalar has no rows: give a shape of [rows, ..]");
    }
    int[] row = new int[shape.length - 1];
    for (int i = 0; i < row.length; i++) {
      row[i] = Math.toIntExact(shape[i + 1]);
    }
    return Field.fixed(name, dtype, row);
  }

  TensorMemory memory() {
    if (lease != null) {
      lease.check();
    }
    return memory;
  }

  /**
   * {@return the elements as a little-endian byte buffer, from position 0 to its limit, without a
   * copy} The buffer is read-only if the tensor is.
   *
   * @throws UnsupportedOperationException if the tensor is a view of a Java array other than byte[]
   */
  public ByteBuffer asByteBuffer() {
    return memory().asByteBuffer((int) bytes());
  }

  /** {@return a copy as float[]; FLOAT32 only} */
  public float[] toFloatArray() {
    return copy(DType.FLOAT32, new float[length()]);
  }

  /** {@return a copy as double[]; FLOAT64 only} */
  public double[] toDoubleArray() {
    return copy(DType.FLOAT64, new double[length()]);
  }

  /** {@return a copy as int[]; INT32 only} */
  public int[] toIntArray() {
    return copy(DType.INT32, new int[length()]);
  }

  /** {@return a copy as long[]; INT64 only} */
  public long[] toLongArray() {
    return copy(DType.INT64, new long[length()]);
  }

  /** {@return a copy as short[]: the raw bits of INT16, FLOAT16 or BFLOAT16} */
  public short[] toShortArray() {
    return copy(dtype.bytes() == Short.BYTES ? dtype : DType.INT16, new short[length()]);
  }

  /** {@return a copy of the elements' little-endian bytes, any type} */
  public byte[] toByteArray() {
    byte[] copy = new byte[Math.toIntExact(bytes())];
    memory().read(0, ByteBuffer.wrap(copy).order(ByteOrder.LITTLE_ENDIAN), 0, copy.length);
    return copy;
  }

  private <T> T copy(DType expected, T array) {
    if (dtype != expected) {
      throw isNot(expected, arrayMethod());
    }
    TensorMemory.ofArray(array).write(0, ByteBuffer.wrap(toByteArray()), 0, (int) bytes());
    return array;
  }

  private int length() {
    return Math.toIntExact(elements);
  }

  /**
   * {@return element {@code index} in row-major order, FLOAT32 only} Checks bounds.
   *
   * @param index position of the element in row-major order, in [0, {@link #elements()})
   */
  public float getFloat(long index) {
    return Float.intBitsToFloat((int) bits(DType.FLOAT32, index));
  }

  /**
   * {@return element {@code index} in row-major order, FLOAT64 only} Checks bounds.
   *
   * @param index position of the element in row-major order, in [0, {@link #elements()})
   */
  public double getDouble(long index) {
    return Double.longBitsToDouble(bits(DType.FLOAT64, index));
  }

  /**
   * {@return element {@code index} in row-major order as an integer: any integer type, UINT8 as 0
   * to 255, BOOL as 0 or 1} Checks bounds.
   *
   * @param index position of the element in row-major order, in [0, {@link #elements()})
   */
  public long getLong(long index) {
    return switch (dtype) {
      case FLOAT16, BFLOAT16, FLOAT32, FLOAT64 -> throw isNot(DType.INT64, elementMethod());
      case UINT8, BOOL -> bits(dtype, index) & 0xFF;
      default -> bits(dtype, index);
    };
  }

  private long bits(DType expected, long index) {
    if (dtype != expected) {
      throw isNot(expected, elementMethod());
    }
    Objects.checkIndex(index, elements);
    return memory().bits(index, dtype.bytes());
  }

  private IllegalArgumentException isNot(DType expected, String method) {
    String cast =
        expected == DType.FLOAT32
            ? ", or read the field by a loader with LoaderOptions.cast(field, DType.FLOAT32)"
            : "";
    return new IllegalArgumentException(
        "the elements are %s, not %s: call %s%s".formatted(dtype, expected, method, cast));
  }

  private String arrayMethod() {
    return switch (dtype) {
      case FLOAT32 -> "toFloatArray()";
      case FLOAT64 -> "toDoubleArray()";
      case INT32 -> "toIntArray()";
      case INT64 -> "toLongArray()";
      case INT16, FLOAT16, BFLOAT16 -> "toShortArray()";
      case BOOL, INT8, UINT8 -> "toByteArray()";
    };
  }

  private String elementMethod() {
    return switch (dtype) {
      case FLOAT32 -> "getFloat(index)";
      case FLOAT64 -> "getDouble(index)";
      case FLOAT16, BFLOAT16 -> "toShortArray()";
      default -> "getLong(index)";
    };
  }

  @Override
  public String toString() {
    return dtype + Arrays.toString(shape);
  }
}
