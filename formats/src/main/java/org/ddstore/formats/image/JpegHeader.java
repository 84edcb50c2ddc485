// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.image;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * A parser of the segments of a JPEG file before its first scan. It drops those of applications,
 * such as colour profiles, and comments. In their place it writes one that states the colours which
 * libjpeg takes for those of the file: the decoder of Java has other rules. Bytes between segments
 * are skipped.
 */
final class JpegHeader {
  private static final int MARKER = 0xFF;
  private static final int TEM = 0x01;
  private static final int SOF0 = 0xC0;
  private static final int SOF15 = 0xCF;
  private static final int DHT = 0xC4;
  private static final int JPG = 0xC8;
  private static final int DAC = 0xCC;
  private static final int RST0 = 0xD0;
  private static final int SOI = 0xD8;
  private static final int EOI = 0xD9;
  private static final int SOS = 0xDA;
  private static final int APP0 = 0xE0;
  private static final int APP14 = 0xEE;
  private static final int APP15 = 0xEF;
  private static final int COM = 0xFE;

  /** Bit of the marker of a frame that tells that it is progressive. */
  private static final int PROGRESSIVE = 2;

  private static final String JFIF = "JFIF\0";
  private static final int JFIF_BYTES = 16;
  private static final String ADOBE = "Adobe";
  private static final int ADOBE_BYTES = 14;
  private static final int ADOBE_TRANSFORM = 13;

  /** Each block of 8 x 8 samples takes at least one bit. */
  private static final int MAX_PIXELS_PER_BYTE = 64 * Byte.SIZE;

  /** Pixels on a side of the largest block: 8 samples, each of 4 pixels. */
  private static final int MAX_BLOCK = 32;

  /**
   * Scans of a file, each of which passes through the whole picture, however few bytes it has:
   * {@code MAX_SCANS} of libjpeg's {@code rdswitch.c}, the most that {@code cjpeg} and {@code
   * jpegtran} write. Their default is 10.
   */
  private static final int MAX_SCANS = 100;

  /**
   * Pixels of all scans. The decoder of Java 17 computes the whole picture for each scan, on one
   * core 150 (colours) to 600 (grey, uniform) million pixels per second.
   */
  private static final long MAX_SCANNED_PIXELS = 1L << 32;

  /** Tables before the first scan take some hundred bytes. */
  private static final int MAX_KEPT_BYTES = 1 << 20;

  private static final int RGB = 3;

  private static final String OTHER_COLOURS =
      "colours of JPEG other than grey and RGB, such as CMYK, are not supported: convert the file"
          + " to RGB";

  private final ByteBuffer bytes;
  private final long fileBytes;
  private final ByteArrayOutputStream kept = new ByteArrayOutputStream();
  private int at = 2;
  private boolean isJfif;
  private int adobeTransform = -1;
  private Frame frame;

  JpegHeader(ByteBuffer bytes, long fileBytes) {
    this.bytes = bytes.slice();
    this.fileBytes = fileBytes;
  }

  /**
   * A frame header (SOF).
   *
   * @param ids identifiers of the components
   * @param samplesPerPixel samples of all components per pixel; less than their number if some are
   *     subsampled
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Frame(
      int height, int width, boolean isProgressive, double samplesPerPixel, int... ids) {}

  ImageHeader parse() throws BrokenImageException {
    while (true) {
      int marker = nextMarker();
      if (marker == EOI || marker == SOI) {
        throw new BrokenImageException("cannot be decoded: the JPEG file has no scan");
      }
      if (marker == TEM || (marker >= RST0 && marker < SOI)) {
        continue;
      }
      require(2);
      int length = number(at);
      if (length < 2) {
        throw new BrokenImageException(
            "cannot be decoded: segment %02x of JPEG has the length %d".formatted(marker, length));
      }
      require(length);
      if (marker == SOS) {
        return header(length);
      }
      segment(marker, length);
      at += length;
    }
  }

  /** Returns the next marker, and moves behind it. */
  private int nextMarker() throws BrokenImageException {
    int code = 0;
    while (code == 0) {
      while (next() != MARKER) {}
      do {
        code = next();
      } while (code == MARKER);
    }
    return code;
  }

  private int next() throws BrokenImageException {
    require(1);
    return bytes.get(at++) & 0xFF;
  }

  private int number(int position) {
    return bytes.getShort(position) & 0xFFFF;
  }

  private void require(int count) throws BrokenImageException {
    if (count > bytes.limit() - at) {
      throw new BrokenImageException("cannot be decoded: the file ends within the header of JPEG");
    }
  }

  private void segment(int marker, int length) throws BrokenImageException {
    if (marker == APP0) {
      isJfif |= length >= JFIF_BYTES && startsWith(JFIF);
    } else if (marker == APP14 && length >= ADOBE_BYTES && startsWith(ADOBE)) {
      adobeTransform = bytes.get(at + ADOBE_TRANSFORM) & 0xFF;
    }
    if ((marker >= APP0 && marker <= APP15) || marker == COM) {
      return;
    }
    boolean isFrame =
        marker >= SOF0 && marker <= SOF15 && marker != DHT && marker != JPG && marker != DAC;
    if (isFrame) {
      frame = frame(marker, length);
    }
    if (kept.size() + length > MAX_KEPT_BYTES) {
      throw new BrokenImageException(
          "cannot be decoded: the tables of JPEG have more than %,d bytes"
              .formatted(MAX_KEPT_BYTES));
    }
    kept.write(MARKER);
    kept.write(marker);
    kept.write(bytes.array(), bytes.arrayOffset() + at, length);
  }

  private boolean startsWith(String text) {
    byte[] found = new byte[text.length()];
    bytes.get(at + 2, found);
    return new String(found, StandardCharsets.ISO_8859_1).equals(text);
  }

  private Frame frame(int marker, int length) throws BrokenImageException {
    int fixedBytes = 8;
    int count = length < fixedBytes ? 0 : bytes.get(at + 7) & 0xFF;
    if (count == 0 || length < fixedBytes + 3 * count) {
      throw new BrokenImageException("cannot be decoded: the frame header of JPEG is too short");
    }
    int[] ids = new int[count];
    int samples = 0;
    int maxAcross = 1;
    int maxDown = 1;
    for (int i = 0; i < count; i++) {
      int component = at + fixedBytes + 3 * i;
      ids[i] = bytes.get(component) & 0xFF;
      int across = bytes.get(component + 1) >> 4 & 0xF;
      int down = bytes.get(component + 1) & 0xF;
      samples += across * down;
      maxAcross = Math.max(maxAcross, across);
      maxDown = Math.max(maxDown, down);
    }
    return new Frame(
        number(at + 3),
        number(at + 5),
        (marker & PROGRESSIVE) != 0,
        (double) samples / (maxAcross * maxDown),
        ids);
  }

  private ImageHeader header(int scanBytes) throws BrokenImageException {
    if (frame == null) {
      throw new BrokenImageException("cannot be decoded: the JPEG file has no frame header");
    }
    if (frame.ids().length != 1 && frame.ids().length != RGB) {
      throw new BrokenImageException(OTHER_COLOURS);
    }
    ImageOptions.Size size =
        ImageHeader.checkedSize(
            frame.height(), frame.width(), (double) fileBytes * MAX_PIXELS_PER_BYTE);
    int bodyStart = at - 2;
    boolean hasManyScans =
        frame.isProgressive() || (scanBytes > 2 && bytes.get(at + 2) < frame.ids().length);
    if (hasManyScans) {
      requireFewScans(scanBytes, size);
    }
    double coefficients = padded(size.height()) * padded(size.width()) * frame.samplesPerPixel();
    return new ImageHeader(
        ImageHeader.Format.JPEG,
        size,
        (long) size.height() * size.width() * frame.ids().length,
        hasManyScans ? ((long) coefficients) * Short.BYTES : 0,
        head(),
        bodyStart);
  }

  /** Returns a number of pixels as a multiple of the largest block of one side. */
  private static double padded(int pixels) {
    return (pixels + MAX_BLOCK - 1) / MAX_BLOCK * MAX_BLOCK;
  }

  /** Counts the scans from the first one on, whose segment begins at {@code at}. */
  private void requireFewScans(int scanBytes, ImageOptions.Size size) throws LargeImageException {
    long scans = 1;
    int i = at + scanBytes;
    while (i < bytes.limit() - 3) {
      int code = bytes.get(i) == (byte) MARKER ? bytes.get(i + 1) & 0xFF : 0;
      if (code == EOI) {
        break;
      }
      if (code <= TEM || (code >= RST0 && code < SOI) || code == MARKER) {
        i++;
        continue;
      }
      scans += code == SOS ? 1 : 0;
      i += 2 + Math.max(2, number(i + 2));
    }
    long most = Math.min(MAX_SCANS, MAX_SCANNED_PIXELS / ((long) size.height() * size.width()));
    if (scans > most) {
      throw new LargeImageException(
          "%,d scans of %d x %d pixels are above the limit of %,d scans for this size: write the file with one scan, as jpegtran does"
              .formatted(scans, size.height(), size.width(), most));
    }
  }

  /** Returns the kept segments behind one that tells the colours. */
  private ByteBuffer head() {
    ByteArrayOutputStream head = new ByteArrayOutputStream();
    head.write(MARKER);
    head.write(SOI);
    head.write(MARKER);
    if (isRgb()) {
      head.write(APP14);
      head.writeBytes(new byte[] {0, ADOBE_BYTES});
      head.writeBytes(ADOBE.getBytes(StandardCharsets.ISO_8859_1));
      head.writeBytes(new byte[] {0, 100, 0, 0, 0, 0, 0});
    } else {
      head.write(APP0);
      head.writeBytes(new byte[] {0, JFIF_BYTES});
      head.writeBytes(JFIF.getBytes(StandardCharsets.ISO_8859_1));
      head.writeBytes(new byte[] {1, 1, 0, 0, 1, 0, 1, 0, 0});
    }
    head.writeBytes(kept.toByteArray());
    return ByteBuffer.wrap(head.toByteArray());
  }

  /** Decides as {@code default_decompress_parms} of libjpeg. */
  private boolean isRgb() {
    int[] ids = frame.ids();
    if (ids.length != RGB || isJfif) {
      return false;
    }
    return adobeTransform >= 0
        ? adobeTransform == 0
        : ids[0] == 'R' && ids[1] == 'G' && ids[2] == 'B';
  }
}
