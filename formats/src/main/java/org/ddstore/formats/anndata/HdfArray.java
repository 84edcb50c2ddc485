// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import io.jhdf.api.Dataset;
import io.jhdf.api.dataset.ChunkedDataset;
import io.jhdf.api.dataset.ContiguousDataset;
import io.jhdf.dataset.DatasetBase;
import io.jhdf.exceptions.HdfException;
import io.jhdf.object.datatype.DataType;
import io.jhdf.object.datatype.EnumDataType;
import io.jhdf.object.datatype.FixedPoint;
import io.jhdf.object.datatype.FloatingPoint;
import io.jhdf.object.datatype.StringData;
import io.jhdf.object.datatype.VariableLength;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.ddstore.formats.ElementType;
import org.ddstore.formats.FormatException;

/**
 * A data set of HDF5. A chunk that continues after a slice is kept decoded for the next slice, so
 * reads in ascending order decode each chunk once.
 */
final class HdfArray implements StoredArray {
  private static final long UNDEFINED_ADDRESS = -1;
  private static final String NOT_WRITTEN = "No chunk with offset";

  private final HdfTree tree;
  private final String path;
  private final Dataset dataset;
  private final DataType hdfType;
  private final int elementBytes;
  private final int[] shape;
  private final Map<Integer, byte[]> band = new HashMap<>();
  private long bandIndex = -1;

  HdfArray(HdfTree tree, String path, Dataset dataset) {
    this.tree = tree;
    this.path = path;
    this.dataset = dataset;
    this.hdfType = dataset.getDataType();
    this.elementBytes = hdfType.getSize();
    this.shape = dataset.getDimensions();
  }

  @Override
  public String path() {
    return path;
  }

  @Override
  public long[] shape() {
    return Arrays.stream(shape).asLongStream().toArray();
  }

  @Override
  public int runRows() {
    return dataset instanceof ChunkedDataset chunked && shape.length > 0
        ? Math.max(1, Math.min(chunked.getChunkDimensions()[0], shape[0]))
        : 1;
  }

  @Override
  public ElementType type() {
    ElementType type = null;
    if (hdfType instanceof FixedPoint number
        && number.getBitPrecision() == Byte.SIZE * elementBytes) {
      type = integer(number.isSigned());
    } else if (hdfType instanceof FloatingPoint number
        && number.getBitPrecision() == Byte.SIZE * elementBytes) {
      type =
          switch (elementBytes) {
            case 2 -> ElementType.FLOAT16;
            case 4 -> ElementType.FLOAT32;
            case 8 -> ElementType.FLOAT64;
            default -> null;
          };
    } else if (hdfType instanceof EnumDataType names && elementBytes == 1) {
      type = names.getEnumMapping().equals(Map.of(0, "FALSE", 1, "TRUE")) ? ElementType.BOOL : null;
    } else if (hdfType instanceof StringData
        || (hdfType instanceof VariableLength texts && texts.isVariableLengthString())) {
      type = ElementType.TEXT;
    }
    if (type == null) {
      throw FormatException.of(
          tree.file(),
          path,
          "the HDF5 type %s of %d bytes is not supported; supported are integers and floating point numbers of at most 8 bytes, booleans and texts"
              .formatted(hdfType.getClass().getSimpleName(), elementBytes));
    }
    return type;
  }

  private ElementType integer(boolean signed) {
    return switch (elementBytes) {
      case 1 -> signed ? ElementType.INT8 : ElementType.UINT8;
      case 2 -> signed ? ElementType.INT16 : ElementType.UINT16;
      case 4 -> signed ? ElementType.INT32 : ElementType.UINT32;
      case 8 -> signed ? ElementType.INT64 : ElementType.UINT64;
      default -> null;
    };
  }

  private ByteOrder order() {
    if (hdfType instanceof FixedPoint number) {
      return number.getByteOrder();
    }
    return hdfType instanceof FloatingPoint number
        ? number.getByteOrder()
        : ByteOrder.LITTLE_ENDIAN;
  }

  @Override
  public String[] texts(long from, int count) throws IOException {
    ByteBuffer references = bytes(from, count);
    return tree.guard(
        path,
        () ->
            (String[])
                hdfType.fillData(references, new int[] {count}, tree.hdf().getHdfBackingStorage()));
  }

  @Override
  public ByteBuffer bytes(long from, int count) throws IOException {
    return bytes(from, count, null);
  }

  @Override
  public ByteBuffer bytes(long from, int count, ByteBuffer last) throws IOException {
    if (shape.length < 1 || shape.length > 2) {
      throw FormatException.of(
          tree.file(),
          path,
          "has the shape %s; supported are one and two dimensions"
              .formatted(Arrays.toString(shape)));
    }
    long size = (long) count * rowLength() * elementBytes;
    if (from < 0 || from + count > shape[0] || size > Integer.MAX_VALUE - 8) {
      throw FormatException.of(
          tree.file(),
          path,
          "rows [%,d, %,d) of %,d bytes; there are %,d rows, and one read has at most 2 GiB"
              .formatted(from, from + count, size, shape[0]));
    }
    if (last != null
        && last.capacity() >= size
        && dataset instanceof ContiguousDataset contiguous
        && contiguous.getDataAddress() != UNDEFINED_ADDRESS) {
      readContiguous(contiguous, from, last.clear().limit((int) size));
      return last.flip().order(order());
    }
    byte[] target = new byte[(int) size];
    if (dataset instanceof ChunkedDataset chunked) {
      readChunks(chunked, from, count, target);
    } else if (dataset instanceof ContiguousDataset contiguous) {
      readContiguous(contiguous, from, ByteBuffer.wrap(target));
    } else {
      ByteBuffer all = tree.guard(path, ((DatasetBase) dataset)::getDataBuffer);
      all.get((int) from * rowLength() * elementBytes, target);
    }
    return ByteBuffer.wrap(target).order(order());
  }

  private int rowLength() {
    return shape.length == 2 ? shape[1] : 1;
  }

  private void readContiguous(ContiguousDataset contiguous, long from, ByteBuffer target)
      throws IOException {
    long address = contiguous.getDataAddress();
    if (address == UNDEFINED_ADDRESS) {
      requireZeroFill();
      return;
    }
    long start = tree.hdf().getUserBlockSize() + address + from * rowLength() * elementBytes;
    tree.content().read(start, target);
  }

  private void readChunks(ChunkedDataset chunked, long from, int count, byte... target)
      throws IOException {
    int[] chunk = chunked.getChunkDimensions();
    int height = chunk[0];
    int width = shape.length == 2 ? chunk[1] : 1;
    for (long index = from / height; index * height < from + count; index++) {
      int first = (int) Math.max(from, index * height);
      int last = (int) Math.min(from + count, (index + 1) * height);
      boolean goesOn = last < Math.min((index + 1) * height, shape[0]);
      for (int column = 0; column * width < rowLength(); column++) {
        byte[] decoded = decoded(chunked, new int[] {(int) index * height, column * width}, goesOn);
        int inChunk = (int) (first - index * height) * width * elementBytes;
        int inTarget = ((int) (first - from) * rowLength() + column * width) * elementBytes;
        if (width == rowLength()) {
          System.arraycopy(
              decoded, inChunk, target, inTarget, (last - first) * width * elementBytes);
          continue;
        }
        int bytes = Math.min(width, rowLength() - column * width) * elementBytes;
        for (int row = first; row < last; row++) {
          System.arraycopy(decoded, inChunk, target, inTarget, bytes);
          inChunk += width * elementBytes;
          inTarget += rowLength() * elementBytes;
        }
      }
      if (!goesOn) {
        band.clear();
      }
    }
  }

  private byte[] decoded(ChunkedDataset chunked, int[] offset, boolean keep) throws IOException {
    if (bandIndex != offset[0]) {
      band.clear();
      bandIndex = offset[0];
    }
    byte[] kept = band.get(offset[offset.length - 1]);
    if (kept != null) {
      return kept;
    }
    byte[] decoded = decode(chunked, Arrays.copyOf(offset, shape.length));
    if (keep) {
      band.put(offset[offset.length - 1], decoded);
    }
    return decoded;
  }

  private byte[] decode(ChunkedDataset chunked, int... offset) throws IOException {
    int expected = elementBytes;
    for (int length : chunked.getChunkDimensions()) {
      expected = Math.multiplyExact(expected, length);
    }
    int bytes = expected;
    byte[] decoded =
        tree.guard(
            path,
            () -> {
              try {
                ChunkFilters filters = new ChunkFilters(chunked.getFilters(), elementBytes);
                return filters.isUsed()
                    ? filters.decode(chunked.getRawChunkBuffer(offset), bytes)
                    : chunked.getDecompressedChunk(offset);
              } catch (HdfException e) {
                if (String.valueOf(e.getMessage()).startsWith(NOT_WRITTEN)) {
                  requireZeroFill();
                  return new byte[bytes];
                }
                throw e;
              }
            });
    if (decoded.length < expected) {
      throw FormatException.of(
          tree.file(),
          path,
          "the chunk at %s has %,d bytes instead of %,d: the file is damaged"
              .formatted(Arrays.toString(offset), decoded.length, expected));
    }
    return decoded;
  }

  /** Checks that elements that were never written are 0. */
  private void requireZeroFill() {
    Object fill = dataset.getFillValue();
    boolean isZero = !(fill instanceof Number number) || number.doubleValue() == 0;
    if (!isZero) {
      throw FormatException.of(
          tree.file(),
          path,
          "has parts that were never written, and the fill value %s; supported is 0"
              .formatted(fill));
    }
  }
}
