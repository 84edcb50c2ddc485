// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples.vae;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/**
 * A reader of the format of the MNIST files, IDX, of unsigned bytes in three dimensions:
 *
 * <pre>
 * 0x00 0x00 0x08 0x03 | images | rows | columns | images x rows x columns bytes
 * </pre>
 *
 * <p>Numbers are int32, big-endian. The file may be compressed by gzip.
 */
final class IdxImages {
  private static final int IMAGES = 0x0803;
  private static final int GZIP = 0x1F8B;

  private IdxImages() {}

  /**
   * Reads all images of a file. Does not close the stream.
   *
   * @param file beginning of the file, compressed or not
   * @param name name of the file, for messages
   * @return the pixels of each image
   * @throws IllegalArgumentException if the content is not a complete file of images of {@value
   *     Layer#SIDE} x {@value Layer#SIDE} pixels; the message names the difference
   */
  static List<byte[]> read(InputStream file, String name) throws IOException {
    try {
      return readImages(new DataInputStream(new BufferedInputStream(unpacked(file))), name);
    } catch (EOFException e) {
      throw new IllegalArgumentException(
          "%s is incomplete: copy the file again".formatted(name), e);
    } catch (ZipException e) {
      throw new IllegalArgumentException(
          "%s is damaged (%s): copy the file again".formatted(name, e.getMessage()), e);
    }
  }

  private static InputStream unpacked(InputStream file) throws IOException {
    BufferedInputStream in = new BufferedInputStream(file);
    in.mark(2);
    int first = (in.read() << 8) | in.read();
    in.reset();
    return first == GZIP ? new GZIPInputStream(in) : in;
  }

  private static List<byte[]> readImages(DataInputStream in, String name) throws IOException {
    int magic = in.readInt();
    if (magic != IMAGES) {
      throw new IllegalArgumentException(
          "%s begins with 0x%08X, a file of images in the IDX format with 0x%08X: give such a file, as train-images-idx3-ubyte of MNIST"
              .formatted(name, magic, IMAGES));
    }
    int count = in.readInt();
    int rows = in.readInt();
    int columns = in.readInt();
    if (rows != Layer.SIDE || columns != Layer.SIDE) {
      throw new IllegalArgumentException(
          "%s has images of %,d x %,d pixels, the network takes %d x %d: scale the images"
              .formatted(name, rows, columns, Layer.SIDE, Layer.SIDE));
    }
    if (count < 0) {
      throw new IllegalArgumentException(
          "%s declares %,d images, outside [0, %,d]: copy the file again"
              .formatted(name, count, Integer.MAX_VALUE));
    }
    List<byte[]> images = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      byte[] pixels = in.readNBytes(Layer.PIXELS);
      if (pixels.length < Layer.PIXELS) {
        throw new EOFException("image %,d of %,d".formatted(i, count));
      }
      images.add(pixels);
    }
    if (in.read() >= 0) {
      throw new IllegalArgumentException(
          "%s continues after its %,d images: copy the file again".formatted(name, count));
    }
    return images;
  }
}
