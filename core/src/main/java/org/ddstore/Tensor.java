package org.ddstore;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Objects;
import org.ddstore.types.DType;
import org.ddstore.types.Field;

/**
 * A dense, row-major array of one element type: a view of a Java array or of a byte buffer, never a
 * copy. What a store takes in and gives out. Not synchronised.
 */
public final class Tensor {
  private final DType dtype;
  private final long[] shape;
  private final long elements;
  private final TensorMemory memory;
  private final Lease lease; // null if the memory is the caller's own

  private Tensor(DType dtype, long[] shape, TensorMemory memory) {
    this(dtype, shape, memory, null);
  }

  private Tensor(DType dtype, long[] dimensions, TensorMemory memory, Lease lease) {
    this.lease = lease;
    this.dtype = Objects.requireNonNull(dtype, "dtype");
    this.shape = dimensions.clone(); // what is checked is what is kept
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
          "%s of shape %s needs %,d bytes; the memory given has %,d"
              .formatted(dtype, Arrays.toString(shape), bytes, memory.bytes()));
    }
  }

  /** FLOAT32 over {@code values}; without a shape, one dimension. */
  public static Tensor wrap(float[] values, long... shape) {
    Objects.requireNonNull(values, "values is null");
    Objects.requireNonNull(shape, "shape is null");
    return ofArray(DType.FLOAT32, values, values.length, shape);
  }

  /** FLOAT64 over {@code values}; without a shape, one dimension. */
  public static Tensor wrap(double[] values, long... shape) {
    Objects.requireNonNull(values, "values is null");
    Objects.requireNonNull(shape, "shape is null");
    return ofArray(DType.FLOAT64, values, values.length, shape);
  }

  /** INT32 over {@code values}; without a shape, one dimension. */
  public static Tensor wrap(int[] values, long... shape) {
    Objects.requireNonNull(values, "values is null");
    Objects.requireNonNull(shape, "shape is null");
    return ofArray(DType.INT32, values, values.length, shape);
  }

  /** INT64 over {@code values}; without a shape, one dimension. */
  public static Tensor wrap(long[] values, long... shape) {
    Objects.requireNonNull(values, "values is null");
    Objects.requireNonNull(shape, "shape is null");
    return ofArray(DType.INT64, values, values.length, shape);
  }

  /** BOOL over {@code values}; without a shape, one dimension. */
  public static Tensor wrap(boolean[] values, long... shape) {
    Objects.requireNonNull(values, "values is null");
    Objects.requireNonNull(shape, "shape is null");
    return ofArray(DType.BOOL, values, values.length, shape);
  }

  /**
   * INT16, FLOAT16 or BFLOAT16 over {@code values}; without a shape, one dimension.
   *
   * @throws IllegalArgumentException if {@code dtype} is another type
   */
  public static Tensor wrap(DType dtype, short[] values, long... shape) {
    Objects.requireNonNull(dtype, "dtype is null");
    Objects.requireNonNull(values, "values is null");
    Objects.requireNonNull(shape, "shape is null");
    if (dtype.bytes() != Short.BYTES) {
      throw new IllegalArgumentException(dtype + " is not int16, float16 or bfloat16");
    }
    return ofArray(dtype, values, values.length, shape);
  }

  /**
   * INT8, UINT8 or BOOL over {@code values}; without a shape, one dimension. Bytes of BOOL are to
   * be 0 or 1; others are kept as they are.
   *
   * @throws IllegalArgumentException if {@code dtype} is another type
   */
  public static Tensor wrap(DType dtype, byte[] values, long... shape) {
    Objects.requireNonNull(dtype, "dtype is null");
    Objects.requireNonNull(values, "values is null");
    Objects.requireNonNull(shape, "shape is null");
    if (dtype.bytes() != 1) {
      throw new IllegalArgumentException(dtype + " is not int8, uint8 or bool");
    }
    return ofArray(dtype, values, values.length, shape);
  }

  /**
   * {@code dtype} over the bytes of {@code buffer} from 0 to its limit, little-endian whatever the
   * buffer's order says. The buffer's position and limit are not changed.
   *
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
   * The same tensor, which gives nothing out any more when {@code newLease} has ended, by an {@link
   * IllegalStateException}.
   */
  public Tensor leasedBy(Lease newLease) {
    Objects.requireNonNull(newLease, "newLease is null");
    return new Tensor(dtype, shape, memory(), newLease);
  }

  private static Tensor ofArray(DType dtype, Object array, long length, long... shape) {
    long[] dimensions = shape.length == 0 ? new long[] {length} : shape;
    Tensor tensor = new Tensor(dtype, dimensions, TensorMemory.ofArray(array));
    if (tensor.elements != length) {
      throw new IllegalArgumentException(
          "shape %s has %,d elements; the array has %,d"
              .formatted(Arrays.toString(shape), tensor.elements, length));
    }
    return tensor;
  }

  public DType dtype() {
    return dtype;
  }

  public long[] shape() {
    return shape.clone();
  }

  /** The first dimension; 1 for a scalar. */
  public long rows() {
    return shape.length == 0 ? 1 : shape[0];
  }

  /** All elements together. */
  public long elements() {
    return elements;
  }

  /** The elements' size in bytes. */
  public long bytes() {
    return elements * dtype.bytes();
  }

  /** True if nothing may be written into this tensor. */
  public boolean isReadOnly() {
    return memory.isReadOnly();
  }

  /** True if the shape behind the first dimension is that of {@code field}, type included. */
  boolean hasRowsOf(Field field) {
    int[] row = field.shape();
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

  /** The field that a variable made of this tensor's rows has. */
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
   * The elements as a little-endian byte buffer, from position 0 to its limit: no copy. Read-only
   * if the tensor is.
   *
   * @throws UnsupportedOperationException if the tensor is a view of a Java array other than byte[]
   */
  public ByteBuffer asByteBuffer() {
    return memory().asByteBuffer((int) bytes());
  }

  /** A copy as float[]; FLOAT32 only. */
  public float[] toFloatArray() {
    return copy(DType.FLOAT32, new float[length()]);
  }

  /** A copy as double[]; FLOAT64 only. */
  public double[] toDoubleArray() {
    return copy(DType.FLOAT64, new double[length()]);
  }

  /** A copy as int[]; INT32 only. */
  public int[] toIntArray() {
    return copy(DType.INT32, new int[length()]);
  }

  /** A copy as long[]; INT64 only. */
  public long[] toLongArray() {
    return copy(DType.INT64, new long[length()]);
  }

  /** A copy as short[]: the raw bits of INT16, FLOAT16 or BFLOAT16. */
  public short[] toShortArray() {
    return copy(dtype.bytes() == Short.BYTES ? dtype : DType.INT16, new short[length()]);
  }

  /** A copy of the elements' little-endian bytes, any type. */
  public byte[] toByteArray() {
    byte[] copy = new byte[Math.toIntExact(bytes())];
    memory().read(0, ByteBuffer.wrap(copy).order(ByteOrder.LITTLE_ENDIAN), 0, copy.length);
    return copy;
  }

  private <T> T copy(DType wanted, T array) {
    if (dtype != wanted) {
      throw new IllegalArgumentException("the elements are %s, not %s".formatted(dtype, wanted));
    }
    TensorMemory.ofArray(array).write(0, ByteBuffer.wrap(toByteArray()), 0, (int) bytes());
    return array;
  }

  private int length() {
    return Math.toIntExact(elements);
  }

  /** Element {@code index} in row-major order, FLOAT32 only. Bounds are checked. */
  public float getFloat(long index) {
    return Float.intBitsToFloat((int) bits(DType.FLOAT32, index));
  }

  /** Element {@code index} in row-major order, FLOAT64 only. Bounds are checked. */
  public double getDouble(long index) {
    return Double.longBitsToDouble(bits(DType.FLOAT64, index));
  }

  /**
   * Element {@code index} in row-major order as a whole number: any integer type, UINT8 as 0 to
   * 255, BOOL as 0 or 1. Bounds are checked.
   */
  public long getLong(long index) {
    return switch (dtype) {
      case FLOAT16, BFLOAT16, FLOAT32, FLOAT64 ->
          throw new IllegalArgumentException("the elements are %s".formatted(dtype));
      case UINT8, BOOL -> bits(dtype, index) & 0xFF;
      default -> bits(dtype, index);
    };
  }

  private long bits(DType wanted, long index) {
    if (dtype != wanted) {
      throw new IllegalArgumentException("the elements are %s, not %s".formatted(dtype, wanted));
    }
    Objects.checkIndex(index, elements);
    return memory().bits(index, dtype.bytes());
  }

  @Override
  public String toString() {
    return dtype + Arrays.toString(shape);
  }
}
