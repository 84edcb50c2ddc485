// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

/**
 * The codecs of the chunks of an array.
 *
 * @param type type of the elements, with the byte order of the chunks
 * @param steps codecs from bytes to bytes, in the order of decoding
 * @param axes axes of the array in the order in which a chunk stores them, the slowest first
 */
record CodecChain(ZarrType type, List<Step> steps, List<Integer> axes) {
  /** Room for the checksums of inner codecs. */
  private static final int SLACK_BYTES = 1 << 10;

  CodecChain {
    steps = List.copyOf(steps);
    axes = List.copyOf(axes);
  }

  /** A codec and its name in the metadata. */
  record Step(String name, ByteCodec codec) {}

  /**
   * Decodes a chunk.
   *
   * @param encoded buffer on the heap
   * @param shape shape of all chunks of the array
   * @throws IOException if the chunk is damaged; the message names the codec
   */
  Chunk decode(ByteBuffer encoded, int[] shape) throws IOException {
    if (!encoded.hasRemaining()) {
      throw new IOException("truncated: 0 bytes");
    }
    int count = Arrays.stream(shape).reduce(1, (a, b) -> a * b);
    long size = (long) count * type.bytes();
    ByteBuffer bytes = encoded;
    for (int i = 0; i < steps.size(); i++) {
      Step step = steps.get(i);
      int limit =
          (int) Math.min(ByteCodec.UNKNOWN, size + (i + 1 < steps.size() ? SLACK_BYTES : 0));
      try {
        bytes = step.codec().decode(bytes, type.bytes() == 0 ? ByteCodec.UNKNOWN : limit);
      } catch (IOException e) {
        throw new IOException("codec %s: %s".formatted(step.name(), problem(e)), e);
      } catch (BufferUnderflowException e) {
        throw new IOException("codec %s: truncated".formatted(step.name()), e);
      }
    }
    if (type.bytes() > 0 && bytes.remaining() != size) {
      throw new IOException(
          "truncated or damaged: the decoded chunk has %,d bytes instead of %,d"
              .formatted(bytes.remaining(), size));
    }
    return new Chunk(elements(bytes, count), strides(shape));
  }

  private static String problem(IOException e) {
    return e.getMessage() == null ? "truncated or damaged: " + e : e.getMessage();
  }

  private Object elements(ByteBuffer bytes, int count) throws IOException {
    return switch (type.form()) {
      case NUMBER, COMPLEX -> bytes.slice().order(type.order());
      case UTF32, BYTES -> FixedText.decode(bytes, type, count);
      case TEXT -> FixedText.decodeVarying(bytes, count);
    };
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
