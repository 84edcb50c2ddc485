// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.ReadOnlyBufferException;
import org.ddstore.memory.RawAddress;
import org.ddstore.read.GatherKernel;

/** The memory of a tensor: copies little-endian bytes between byte buffers and its memory. */
abstract class TensorMemory {
  abstract long bytes();

  abstract boolean isReadOnly();

  /** Copies {@code length} bytes in; offset and length are multiples of the element size. */
  abstract void write(long offset, ByteBuffer source, int sourceOffset, int length);

  /** Copies {@code length} bytes out; offset and length are multiples of the element size. */
  abstract void read(long offset, ByteBuffer target, int targetOffset, int length);

  /** Returns element {@code index}, sign-extended to 64 bits. */
  abstract long bits(long index, int elementBytes);

  abstract ByteBuffer asByteBuffer(int length);

  static TensorMemory of(ByteBuffer buffer) {
    return new InBuffer(buffer.duplicate().order(ByteOrder.LITTLE_ENDIAN));
  }

  static TensorMemory ofArray(Object array) {
    return array instanceof byte[] bytes ? of(ByteBuffer.wrap(bytes)) : new InArray(array);
  }

  /** Aims a gather at this memory, from its first byte; returns false if it cannot write to it. */
  abstract boolean aim(GatherKernel.Target target, GatherKernel kernel);

  private static final class InBuffer extends TensorMemory {
    private static final long UNKNOWN = 0;

    private final ByteBuffer buffer;
    private long address = UNKNOWN;

    InBuffer(ByteBuffer buffer) {
      this.buffer = buffer;
    }

    @Override
    long bytes() {
      return buffer.limit();
    }

    @Override
    boolean isReadOnly() {
      return buffer.isReadOnly();
    }

    @Override
    void write(long offset, ByteBuffer source, int sourceOffset, int length) {
      buffer.put((int) offset, source, sourceOffset, length);
    }

    @Override
    void read(long offset, ByteBuffer target, int targetOffset, int length) {
      target.put(targetOffset, buffer, (int) offset, length);
    }

    @Override
    long bits(long index, int elementBytes) {
      int at = (int) index * elementBytes;
      return switch (elementBytes) {
        case 1 -> buffer.get(at);
        case 2 -> buffer.getShort(at);
        case 4 -> buffer.getInt(at);
        default -> buffer.getLong(at);
      };
    }

    @Override
    ByteBuffer asByteBuffer(int length) {
      return buffer.slice(0, length).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    boolean aim(GatherKernel.Target target, GatherKernel kernel) {
      if (kernel != null && address == UNKNOWN && buffer.isDirect()) {
        address = RawAddress.of(buffer);
      }
      if (buffer.isDirect() && buffer.limit() > 0) {
        // Throws if the memory of a foreign buffer is freed; the raw address has no such check.
        buffer.get(0);
      }
      target.set(buffer, address);
      return true;
    }
  }

  private static final class InArray extends TensorMemory {
    /** Longest copy in bytes that is as fast element by element as in bulk. */
    private static final int LOOP_BYTES = 1024;

    private final Object array;
    private final int elementBytes;

    InArray(Object array) {
      this.array = array;
      if (array instanceof boolean[]) {
        elementBytes = 1;
      } else if (array instanceof short[]) {
        elementBytes = Short.BYTES;
      } else if (array instanceof int[] || array instanceof float[]) {
        elementBytes = Integer.BYTES;
      } else if (array instanceof long[] || array instanceof double[]) {
        elementBytes = Long.BYTES;
      } else {
        throw new IllegalArgumentException("not a primitive array: " + array);
      }
    }

    @Override
    long bytes() {
      return (long) Array.getLength(array) * elementBytes;
    }

    @Override
    boolean isReadOnly() {
      return false;
    }

    @Override
    void write(long offset, ByteBuffer source, int sourceOffset, int length) {
      if (length <= LOOP_BYTES && source.order() == ByteOrder.LITTLE_ENDIAN) {
        writeElements((int) (offset / elementBytes), source, sourceOffset, length / elementBytes);
        return;
      }
      ByteBuffer from = source.slice(sourceOffset, length).order(ByteOrder.LITTLE_ENDIAN);
      int first = (int) (offset / elementBytes);
      int count = length / elementBytes;
      if (array instanceof float[] floats) {
        from.asFloatBuffer().get(floats, first, count);
      } else if (array instanceof double[] doubles) {
        from.asDoubleBuffer().get(doubles, first, count);
      } else if (array instanceof int[] ints) {
        from.asIntBuffer().get(ints, first, count);
      } else if (array instanceof long[] longs) {
        from.asLongBuffer().get(longs, first, count);
      } else if (array instanceof short[] shorts) {
        from.asShortBuffer().get(shorts, first, count);
      } else {
        boolean[] booleans = (boolean[]) array;
        for (int i = 0; i < count; i++) {
          booleans[first + i] = from.get(i) != 0;
        }
      }
    }

    /** Copies one by one, which needs no views: they would cost 248 bytes a call. */
    private void writeElements(int first, ByteBuffer source, int from, int count) {
      if (array instanceof float[] floats) {
        for (int i = 0; i < count; i++) {
          floats[first + i] = source.getFloat(from + i * Float.BYTES);
        }
      } else if (array instanceof double[] doubles) {
        for (int i = 0; i < count; i++) {
          doubles[first + i] = source.getDouble(from + i * Double.BYTES);
        }
      } else if (array instanceof int[] ints) {
        for (int i = 0; i < count; i++) {
          ints[first + i] = source.getInt(from + i * Integer.BYTES);
        }
      } else if (array instanceof long[] longs) {
        for (int i = 0; i < count; i++) {
          longs[first + i] = source.getLong(from + i * Long.BYTES);
        }
      } else if (array instanceof short[] shorts) {
        for (int i = 0; i < count; i++) {
          shorts[first + i] = source.getShort(from + i * Short.BYTES);
        }
      } else {
        boolean[] booleans = (boolean[]) array;
        for (int i = 0; i < count; i++) {
          booleans[first + i] = source.get(from + i) != 0;
        }
      }
    }

    @Override
    void read(long offset, ByteBuffer target, int targetOffset, int length) {
      if (target.isReadOnly()) {
        throw new ReadOnlyBufferException();
      }
      ByteBuffer to = target.slice(targetOffset, length).order(ByteOrder.LITTLE_ENDIAN);
      int first = (int) (offset / elementBytes);
      int count = length / elementBytes;
      if (array instanceof float[] floats) {
        to.asFloatBuffer().put(floats, first, count);
      } else if (array instanceof double[] doubles) {
        to.asDoubleBuffer().put(doubles, first, count);
      } else if (array instanceof int[] ints) {
        to.asIntBuffer().put(ints, first, count);
      } else if (array instanceof long[] longs) {
        to.asLongBuffer().put(longs, first, count);
      } else if (array instanceof short[] shorts) {
        to.asShortBuffer().put(shorts, first, count);
      } else {
        boolean[] booleans = (boolean[]) array;
        for (int i = 0; i < count; i++) {
          to.put(i, (byte) (booleans[first + i] ? 1 : 0));
        }
      }
    }

    @Override
    long bits(long index, int elementBytes) {
      int at = (int) index;
      if (array instanceof float[] floats) {
        return Float.floatToRawIntBits(floats[at]);
      } else if (array instanceof double[] doubles) {
        return Double.doubleToRawLongBits(doubles[at]);
      } else if (array instanceof boolean[] booleans) {
        return booleans[at] ? 1 : 0;
      } else {
        return Array.getLong(array, at);
      }
    }

    /** Rejects boolean arrays: a boolean must be 0 or 1, and a record may hold other bytes. */
    @Override
    boolean aim(GatherKernel.Target target, GatherKernel kernel) {
      if (kernel == null || array instanceof boolean[]) {
        return false;
      }
      target.setArray(array);
      return true;
    }

    @Override
    ByteBuffer asByteBuffer(int length) {
      throw new UnsupportedOperationException(
          "a view of a Java array (%s) has no byte buffer: read it through the array"
              .formatted(array.getClass().getSimpleName()));
    }
  }
}
