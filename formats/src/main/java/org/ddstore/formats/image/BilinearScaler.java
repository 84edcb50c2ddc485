// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.image;

import java.util.Arrays;

/**
 * Scales images with a triangle filter: bilinear interpolation where the image grows; where it
 * shrinks, the triangle is as wide as the pixels of the result, so that all pixels of the image
 * count. It scales rows first, then columns, with samples of 8 bits between, and weights of 22
 * bits: Pillow's {@code Image.resize(size, BILINEAR)} returns the same samples. Rows of the image
 * are scaled one after the other and added to the rows of the result that they are part of, so that
 * it needs no memory for the image.
 */
final class BilinearScaler {
  private static final int WEIGHT_BITS = 22;

  private static final int HALF = 1 << (WEIGHT_BITS - 1);

  private BilinearScaler() {}

  /** Returns a part in the centre of an image that is scaled to a height and a width. */
  static byte[] scale(PixelRows image, long height, long width, ImageOptions.Size part) {
    Weights across = Weights.of(image.width(), width, part.width());
    Weights down = Weights.of(image.height(), height, part.height());
    int rowBytes = Math.multiplyExact(part.width(), image.channels());
    byte[] to = new byte[Math.multiplyExact(part.height(), rowBytes)];
    int[][] sums = new int[part.height()][];
    byte[] row = new byte[Math.multiplyExact(across.end() - across.begin(), image.channels())];
    byte[] scaled = new byte[rowBytes];
    int firstOpen = 0; // the rows of the result before it are complete
    for (int y = down.begin(); y < down.end(); y++) {
      image.copy(y, across.begin(), across.end() - across.begin(), row, 0);
      scaleRow(row, image.channels(), across, scaled);
      for (int i = firstOpen; i < part.height() && down.first[i] <= y; i++) {
        int weight = y < down.end(i) ? down.values[i][y - down.first[i]] : 0;
        if (sums[i] == null) {
          sums[i] = new int[rowBytes];
          Arrays.fill(sums[i], HALF);
        }
        add(scaled, weight, sums[i]);
      }
      while (firstOpen < part.height() && down.end(firstOpen) <= y + 1) {
        finish(sums[firstOpen], to, firstOpen * rowBytes);
        sums[firstOpen++] = null;
      }
    }
    return to;
  }

  /** Scales a row that begins at the first pixel that counts. */
  private static void scaleRow(byte[] row, int channels, Weights weights, byte... to) {
    int place = 0;
    for (int column = 0; column < weights.first.length; column++) {
      int first = (weights.first[column] - weights.begin()) * channels;
      for (int channel = 0; channel < channels; channel++) {
        to[place++] = sum(row, first + channel, channels, weights.values[column]);
      }
    }
  }

  private static byte sum(byte[] samples, int first, int stride, int... weights) {
    int sum = HALF;
    int at = first;
    for (int weight : weights) {
      sum += (samples[at] & 0xFF) * weight;
      at += stride;
    }
    return sample(sum);
  }

  private static void add(byte[] samples, int weight, int... sums) {
    for (int i = 0; i < sums.length; i++) {
      sums[i] += (samples[i] & 0xFF) * weight;
    }
  }

  private static void finish(int[] sums, byte[] to, int offset) {
    for (int i = 0; i < sums.length; i++) {
      to[offset + i] = sample(sums[i]);
    }
  }

  private static byte sample(int sum) {
    return (byte) Math.max(0, Math.min(0xFF, sum >> WEIGHT_BITS));
  }

  /**
   * The pixels of a line that each pixel of the scaled line is made of.
   *
   * @param first first of them; never decreases
   * @param values their weights, whose sum is 2<sup>22</sup>
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Weights(int[] first, int[][] values) {
    /** Returns the weights of the {@code part} pixels in the centre of a line of {@code to}. */
    static Weights of(int from, long to, int part) {
      double scale = (double) from / to;
      double radius = Math.max(1, scale);
      long start = (to - part) / 2;
      Weights weights = new Weights(new int[part], new int[part][]);
      for (int i = 0; i < part; i++) {
        double centre = (start + i + 0.5) * scale;
        int first = Math.max(0, (int) (centre - radius + 0.5));
        int end = Math.min(from, (int) (centre + radius + 0.5));
        double[] triangle = new double[end - first];
        for (int j = 0; j < triangle.length; j++) {
          double distance = Math.abs((first + j - centre + 0.5) * (1 / radius));
          triangle[j] = Math.max(0, 1 - distance);
        }
        double sum = Arrays.stream(triangle).sum();
        weights.first[i] = first;
        weights.values[i] =
            Arrays.stream(triangle)
                .mapToInt(weight -> (int) (0.5 + weight / sum * (1 << WEIGHT_BITS)))
                .toArray();
      }
      return weights;
    }

    int end(int i) {
      return first[i] + values[i].length;
    }

    int begin() {
      return first[0];
    }

    int end() {
      return end(first.length - 1);
    }
  }
}
