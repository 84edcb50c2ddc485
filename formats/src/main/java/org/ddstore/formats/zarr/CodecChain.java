// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.ddstore.formats.ReadBudget;

/**
 * The codecs of the chunks of an array.
 *
 * @param type type of the elements, with the byte order of the chunks
 * @param steps codecs from bytes to bytes, in the order of decoding
 * @param axes axes of the array in the order in which a chunk stores them, the slowest first
 */
record CodecChain(ZarrType type, List<Step> steps, List<Integer> axes) {
  /** How much larger than its content a buffer may be that another codec decodes, a 64th of it. */
  private static final int SLACK_SHIFT = 6;

  private static final int SLACK_BYTES = 1 << 10;

  /** Copies of the bytes of a chunk of texts: parts of a stream, the whole, and the characters. */
  private static final int TEXT_COPIES = 4;

  CodecChain {
    steps = List.copyOf(steps);
    axes = List.copyOf(axes);
  }

  /**
   * A codec.
   *
   * @param name name in the metadata
   * @param overhead number of bytes that encoding adds; {@link #COMPRESSES} if it depends on them
   * @param ratio largest ratio of decoded to encoded bytes
   */
  record Step(String name, ByteCodec codec, int overhead, int ratio) {
    private static final int COMPRESSES = -1;

    static Step compressor(String name, int ratio, ByteCodec codec) {
      return new Step(name, codec, COMPRESSES, ratio);
    }

    static Step fixed(String name, int overhead, ByteCodec codec) {
      return new Step(name, codec, overhead, 1);
    }
  }

  /** Returns the number of elements of a chunk, which {@link ArrayMetadata#of} bounds. */
  private static int count(int... shape) {
    return Arrays.stream(shape).reduce(1, (a, b) -> a * b);
  }

  /**
   * Returns the bytes that decoding of a chunk uses beside the encoded ones; at least, of texts.
   */
  long workingBytes(int... shape) {
    long count = count(shape);
    long bytes = count * type.bytes() * Math.min(2, steps.size());
    int characters = type.form() == ZarrType.Form.UTF32 ? type.bytes() / 2 : type.bytes();
    return type.isText() ? bytes + textBytes(count, count * characters) : bytes;
  }

  /** Checks before memory is allocated that encoded bytes can be a chunk. */
  void requireReachable(int encoded, int... shape) throws IOException {
    if (encoded == 0) {
      throw new IOException("truncated: 0 bytes");
    }
    long size = (long) count(shape) * type.bytes();
    long reached = encoded;
    for (Step step : steps) {
      reached = Math.min(Integer.MAX_VALUE, reached * step.ratio()); // below 2^62
    }
    if (size > reached && reached > encoded) { // else decoding tells more
      throw new IOException(
          "truncated or damaged: %,d bytes cannot be decoded to the %,d of a chunk"
              .formatted(encoded, size));
    }
  }

  private static long textBytes(long count, long characters) {
    return count * ReadBudget.TEXT_BYTES + 2 * characters;
  }

  /**
   * Decodes a chunk.
   *
   * @param encoded buffer on the heap
   * @param shape shape of all chunks of the array
   * @param free number of bytes that can be used, at least {@link #workingBytes}
   * @throws IOException if the chunk is damaged; the message names the codec
   */
  Chunk decode(ByteBuffer encoded, int[] shape, long free) throws IOException {
    int count = count(shape);
    ByteCodec.Size[] sizes = sizes(count, free);
    ByteBuffer bytes = encoded;
    for (int i = 0; i < steps.size(); i++) {
      bytes = decode(steps.get(i), bytes, sizes[i]);
    }
    long size = (long) count * type.bytes();
    if (type.bytes() > 0 && bytes.remaining() != size) {
      throw new IOException(
          "truncated or damaged: the decoded chunk has %,d bytes instead of %,d"
              .formatted(bytes.remaining(), size));
    }
    if (!type.isText()) {
      ByteBuffer numbers = bytes.slice().order(type.order());
      return new Chunk(numbers, numbers.capacity(), strides(shape));
    }
    String[] texts =
        type.form() == ZarrType.Form.TEXT
            ? FixedText.decodeVarying(bytes, count)
            : FixedText.decode(bytes, type, count);
    long characters = 0;
    for (String text : texts) {
      characters += text.length();
    }
    return new Chunk(texts, textBytes(count, characters), strides(shape));
  }

  /** Returns the sizes of the results of the steps. */
  private ByteCodec.Size[] sizes(int count, long free) {
    ByteCodec.Size[] sizes = new ByteCodec.Size[steps.size()];
    boolean isExact = type.bytes() > 0;
    long size =
        isExact
            ? (long) count * type.bytes()
            : Math.max(0, free - textBytes(count, 0)) / TEXT_COPIES;
    for (int i = sizes.length - 1; i >= 0; i--) {
      sizes[i] = new ByteCodec.Size((int) Math.min(ReadBudget.MAX_ARRAY_LENGTH, size), isExact);
      int overhead = steps.get(i).overhead();
      isExact &= overhead != Step.COMPRESSES;
      size += overhead != Step.COMPRESSES ? overhead : SLACK_BYTES + (size >> SLACK_SHIFT);
    }
    return sizes;
  }

  @SuppressWarnings("IllegalCatch") // libraries throw any for damaged bytes
  private static ByteBuffer decode(Step step, ByteBuffer bytes, ByteCodec.Size size)
      throws IOException {
    try {
      return step.codec().decode(bytes, size);
    } catch (BufferUnderflowException e) {
      throw new IOException("codec %s: truncated".formatted(step.name()), e);
    } catch (IOException e) {
      String problem = e.getMessage() == null ? "truncated or damaged" : e.getMessage();
      throw new IOException("codec %s: %s".formatted(step.name(), problem), e);
    } catch (RuntimeException e) {
      String problem = e.getMessage() == null ? "not bytes of this codec" : e.getMessage();
      throw new IOException("codec %s: damaged: %s".formatted(step.name(), problem), e);
    }
  }

  /**
   * Returns the distance of neighbours of each axis in a chunk, in elements; numbers of a pair are
   * the last axis.
   */
  int[] strides(int[] shape) {
    boolean isComplex = type.form() == ZarrType.Form.COMPLEX;
    int[] strides = new int[shape.length + (isComplex ? 1 : 0)];
    int stride = 1;
    if (isComplex) {
      strides[shape.length] = 1;
      stride = 2;
    }
    for (int i = axes.size() - 1; i >= 0; i--) {
      strides[axes.get(i)] = stride;
      stride *= shape[axes.get(i)];
    }
    return strides;
  }
}
