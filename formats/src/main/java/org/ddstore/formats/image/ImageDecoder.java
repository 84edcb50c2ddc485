// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.image;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import javax.imageio.ImageReader;
import javax.imageio.stream.ImageInputStream;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.InputFile;
import org.ddstore.formats.ReadBudget;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decodes JPEG and PNG to samples of 8 bits. The samples are those of the file: no colour profile,
 * gamma or camera orientation is applied. Samples of 16 bits are reduced to their upper 8 bits. The
 * memory that an image needs is checked before it is taken.
 */
final class ImageDecoder {
  private static final Logger LOG = LoggerFactory.getLogger(ImageDecoder.class);

  /** Most images have their size in these first bytes. */
  private static final int HEADER_BYTES = 1 << 16;

  private ImageDecoder() {}

  /** Returns height and width, which stand in the header. */
  static ImageOptions.Size size(InputFile file) throws IOException {
    if (file.length() > HEADER_BYTES) {
      ByteBuffer first = ByteBuffer.allocate(HEADER_BYTES);
      try (InputFile.Content content = file.open()) {
        content.read(0, first);
      }
      try {
        return ImageHeader.of(first.flip(), file.length()).size();
      } catch (BrokenImageException e) { // profiles and previews can be longer
        LOG.debug("image {} has no size in its first {} bytes", file.path(), HEADER_BYTES, e);
      }
    }
    return ImageHeader.of(bytes(file), file.length()).size();
  }

  private static ByteBuffer bytes(InputFile file) throws IOException {
    requireHeld("the file", file.length());
    return file.readAll();
  }

  private static void requireHeld(String object, long bytes) throws LargeImageException {
    Optional<String> problem = ReadBudget.heldProblem(bytes);
    if (problem.isPresent()) {
      throw new LargeImageException(object + ": " + problem.get());
    }
  }

  /**
   * Decodes an image.
   *
   * @param options channels, and the size to which the image will be brought
   * @throws BrokenImageException if the file is not an image that can be decoded, or needs more
   *     memory than a task may use
   * @throws FormatException if the memory was full
   */
  static PixelRows decode(InputFile file, ImageOptions options) throws IOException {
    ByteBuffer bytes = bytes(file);
    ImageHeader header = ImageHeader.of(bytes, file.length());
    String object =
        "picture of %d x %d pixels".formatted(header.size().height(), header.size().width());
    requireHeld(object, file.length() + header.neededBytes(options));
    try {
      BufferedImage image = decode(header, bytes);
      return new PixelRows(image.getRaster(), image.getColorModel(), options.channels());
    } catch (OutOfMemoryError e) {
      throw new FormatException(
          file.path(),
          object
              + ": the memory was full: raise spark.executor.memory, or lower spark.executor.cores",
          e);
    }
  }

  private static BufferedImage decode(ImageHeader header, ByteBuffer bytes)
      throws BrokenImageException {
    ByteBuffer body = bytes.slice().position(header.bodyStart());
    try (ImageInputStream input = new BufferImageInput(header.head(), body)) {
      ImageReader reader = header.format().reader();
      try {
        List<String> warnings = new ArrayList<>();
        reader.addIIOReadWarningListener(
            (source, warning) -> {
              if (isDamage(warning)) {
                warnings.add(warning);
              }
            });
        reader.setInput(input, true, true);
        BufferedImage image = reader.read(0);
        if (!warnings.isEmpty()) {
          throw new BrokenImageException(warnings.get(0));
        }
        return image;
      } finally {
        reader.dispose();
      }
    } catch (BrokenImageException e) {
      throw e;
    } catch (IOException | RuntimeException | StackOverflowError e) { // decoders throw many kinds
      if (e.getCause() instanceof OutOfMemoryError full) {
        throw full;
      }
      throw new BrokenImageException("cannot be decoded: " + e.getMessage(), e);
    }
  }

  /**
   * Bytes that libjpeg has left between two segments. Before the end of the file or of an interval
   * (d0 to d7) they are samples that damage has moved.
   */
  private static final Pattern SURPLUS =
      Pattern.compile("extraneous bytes before marker 0x(?!d[0-79])");

  /** Returns whether a warning tells that samples are lost. */
  private static boolean isDamage(String warning) {
    String text = warning.toLowerCase(Locale.ROOT);
    if (SURPLUS.matcher(text).find()) {
      return false;
    }
    return text.contains("premature") || text.contains("corrupt") || text.contains("truncat");
  }
}
