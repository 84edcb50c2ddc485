// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.image;

import java.io.IOException;
import java.nio.ByteBuffer;
import javax.imageio.ImageIO;
import javax.imageio.ImageReader;
import javax.imageio.spi.ImageReaderSpi;

/**
 * The part of an image file before its samples. It is rewritten for the decoder without everything
 * that would change samples or that takes memory, such as colour profiles, texts and previews.
 *
 * @param format format of the file
 * @param size height and width, within the limit
 * @param rasterBytes memory of the decoded samples
 * @param decoderBytes memory that the decoder needs beside them
 * @param head rewritten header
 * @param bodyStart position in the file at which the bytes begin that follow the header
 */
record ImageHeader(
    Format format,
    ImageOptions.Size size,
    long rasterBytes,
    long decoderBytes,
    ByteBuffer head,
    int bodyStart) {
  /** Above this number of pixels, an image is refused. */
  private static final long MAX_PIXELS = 1L << 28;

  /** The samples of the result, and their copy on the way into a row. */
  private static final int RESULT_COPIES = 2;

  /** Memory of the scaler for each row and column of an image: two weights, and a pixel. */
  private static final int SCALER_BYTES = 12;

  /**
   * Reads the header of a file.
   *
   * @param bytes first bytes of the file
   * @param fileBytes length of the file
   * @throws BrokenImageException if they do not contain the complete header of a JPEG or PNG file
   */
  static ImageHeader of(ByteBuffer bytes, long fileBytes) throws BrokenImageException {
    if (Format.JPEG.begins(bytes)) {
      return new JpegHeader(bytes, fileBytes).parse();
    }
    if (Format.PNG.begins(bytes)) {
      return new PngHeader(bytes, fileBytes).parse();
    }
    throw new BrokenImageException(
        bytes.hasRemaining()
            ? "neither JPEG nor PNG: the first bytes are others"
            : "the file is empty");
  }

  /**
   * Checks the size that a file declares.
   *
   * @param maxPixels number of pixels that the bytes of the file can hold at most
   * @throws BrokenImageException if there are no pixels, or too many
   */
  static ImageOptions.Size checkedSize(long height, long width, double maxPixels)
      throws BrokenImageException {
    if (height == 0 || width == 0) {
      throw new BrokenImageException(
          "the image has no pixels: its size is %d x %d".formatted(height, width));
    }
    double pixels = (double) height * width;
    if (pixels > MAX_PIXELS) {
      throw new BrokenImageException(
          "%d x %d pixels are above the limit of %,d".formatted(height, width, MAX_PIXELS));
    }
    if (pixels > maxPixels) {
      throw new BrokenImageException(
          "truncated: %d x %d pixels do not fit into the file".formatted(height, width));
    }
    return new ImageOptions.Size((int) height, (int) width);
  }

  /** Returns the memory for decoding the image and bringing it to the size of the options. */
  long neededBytes(ImageOptions options) {
    ImageOptions.Size result = options.size().orElse(size);
    return rasterBytes
        + decoderBytes
        + (options.size().isPresent() ? SCALER_BYTES * ((long) size.height() + size.width()) : 0)
        + RESULT_COPIES * ((long) result.height() * result.width() * options.channels());
  }

  /** The supported formats, with the reader that the JVM prefers. */
  enum Format {
    JPEG("\u00FF\u00D8\u00FF"),
    PNG("\u0089PNG\r\n\u001A\n");

    /** The first bytes, each as a character. */
    private final String signature;

    @SuppressWarnings("ImmutableEnumChecker") // creates readers, which is all that is used
    private final ImageReaderSpi provider;

    Format(String signature) {
      this.signature = signature;
      ImageReader reader = ImageIO.getImageReadersByFormatName(name()).next();
      this.provider = reader.getOriginatingProvider();
      reader.dispose();
    }

    boolean begins(ByteBuffer bytes) {
      boolean begins = bytes.remaining() >= signature.length();
      for (int i = 0; begins && i < signature.length(); i++) {
        begins = (bytes.get(bytes.position() + i) & 0xFF) == signature.charAt(i);
      }
      return begins;
    }

    ImageReader reader() throws IOException {
      return provider.createReaderInstance();
    }
  }
}
