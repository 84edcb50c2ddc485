// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.image;

/**
 * A decoded image.
 *
 * @param samples samples of 8 bits, row by row, the channels of a pixel side by side
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record Pixels(int height, int width, int channels, byte... samples) {

  /** Returns a rectangle inside the image. */
  Pixels crop(int top, int left, int rows, int columns) {
    byte[] to = new byte[rows * columns * channels];
    int rowBytes = columns * channels;
    for (int row = 0; row < rows; row++) {
      System.arraycopy(
          samples, ((top + row) * width + left) * channels, to, row * rowBytes, rowBytes);
    }
    return new Pixels(rows, columns, channels, to);
  }
}
