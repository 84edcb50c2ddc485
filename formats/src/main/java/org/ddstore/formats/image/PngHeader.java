// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.image;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.zip.CRC32;
import org.ddstore.formats.ReadBudget;

/**
 * A parser of the chunks of a PNG file before its first IDAT. It keeps the palette and the
 * transparent colours (tRNS): others, such as profiles and compressed texts, do not change samples.
 */
final class PngHeader {
  private static final int SIGNATURE_BYTES = 8;

  /** Bytes of a chunk beside its data: length, type and checksum. */
  private static final int CHUNK_BYTES = 12;

  private static final int IHDR = 0x49484452;
  private static final int IHDR_BYTES = 13;
  private static final int IDAT = 0x49444154;
  private static final int TRNS = 0x74524E53;
  private static final int PLTE = 0x504C5445;

  /** More than a palette of 256 colours, their transparency and the header. */
  private static final int MAX_KEPT_BYTES = 4096;

  /** Bit of the first letter of a type that tells that a chunk is ancillary. */
  private static final int ANCILLARY = 0x20000000;

  private static final int PALETTE = 3;

  /** Bands by the type of colours: grey, none, RGB, palette, grey and alpha, none, RGBA. */
  private static final int[] BANDS = {1, 0, 3, 1, 2, 0, 4};

  /** Rows that the decoder holds: two filtered ones, an unfiltered one, and one with alpha. */
  private static final int DECODER_ROWS = 4;

  private final ByteBuffer bytes;
  private final long fileBytes;
  private final ByteArrayOutputStream kept = new ByteArrayOutputStream();
  private int at;
  private boolean hasTransparentColour;

  PngHeader(ByteBuffer bytes, long fileBytes) {
    this.bytes = bytes.slice();
    this.fileBytes = fileBytes;
  }

  ImageHeader parse() throws BrokenImageException {
    keep(SIGNATURE_BYTES);
    require(CHUNK_BYTES + IHDR_BYTES);
    if (bytes.getInt(at) != IHDR_BYTES || bytes.getInt(at + Integer.BYTES) != IHDR) {
      throw new BrokenImageException("the first chunk of the PNG file is not IHDR");
    }
    int data = at + 2 * Integer.BYTES;
    keepChunk(CHUNK_BYTES + IHDR_BYTES);
    keepChunksBeforeSamples();
    return header(data);
  }

  private void keepChunksBeforeSamples() throws BrokenImageException {
    while (true) {
      require(CHUNK_BYTES);
      long length = Integer.toUnsignedLong(bytes.getInt(at));
      int type = bytes.getInt(at + Integer.BYTES);
      if (type == IDAT) {
        return;
      }
      require(CHUNK_BYTES + length);
      boolean isKept = type == PLTE || type == TRNS;
      if (isKept ? kept.size() + length > MAX_KEPT_BYTES : (type & ANCILLARY) == 0) {
        throw new BrokenImageException(
            "cannot be decoded: chunk 0x%08x of PNG with %,d bytes is not legal before the samples"
                .formatted(type, length));
      }
      if (isKept) {
        keepChunk(CHUNK_BYTES + (int) length);
        hasTransparentColour |= type == TRNS;
      } else {
        at += CHUNK_BYTES + (int) length;
      }
    }
  }

  private ImageHeader header(int data) throws BrokenImageException {
    long width = Integer.toUnsignedLong(bytes.getInt(data));
    long height = Integer.toUnsignedLong(bytes.getInt(data + Integer.BYTES));
    int bits = bytes.get(data + 8);
    int colours = bytes.get(data + 9);
    boolean isLegal = colours >= 0 && colours < BANDS.length && BANDS[colours] > 0;
    if (!isLegal || bits <= 0 || bits > Short.SIZE) {
      throw new BrokenImageException(
          "PNG does not define colour type %d with %d bits per sample".formatted(colours, bits));
    }
    int pixelBits = BANDS[colours] * bits;
    double maxPixels = (double) fileBytes * ReadBudget.DEFLATE_RATIO * Byte.SIZE / pixelBits;
    ImageOptions.Size size = ImageHeader.checkedSize(height, width, maxPixels);
    long rowBytes =
        hasTransparentColour && colours != PALETTE
            ? width * (BANDS[colours] + 1) * (bits > Byte.SIZE ? Short.BYTES : 1)
            : (width * pixelBits + Byte.SIZE - 1) / Byte.SIZE;
    return new ImageHeader(
        ImageHeader.Format.PNG,
        size,
        height * rowBytes,
        DECODER_ROWS * rowBytes,
        ByteBuffer.wrap(kept.toByteArray()),
        at);
  }

  private void keep(int count) {
    kept.write(bytes.array(), bytes.arrayOffset() + at, count);
    at += count;
  }

  /** Keeps a chunk after a check of its checksum, which the decoder does not read. */
  private void keepChunk(int count) throws BrokenImageException {
    CRC32 sum = new CRC32();
    sum.update(bytes.array(), bytes.arrayOffset() + at + Integer.BYTES, count - 2 * Integer.BYTES);
    if ((int) sum.getValue() != bytes.getInt(at + count - Integer.BYTES)) {
      throw new BrokenImageException("a chunk of the PNG file differs from its checksum");
    }
    keep(count);
  }

  private void require(long count) throws BrokenImageException {
    if (count > bytes.limit() - at) {
      throw new BrokenImageException("cannot be decoded: the file ends within the header of PNG");
    }
  }
}
