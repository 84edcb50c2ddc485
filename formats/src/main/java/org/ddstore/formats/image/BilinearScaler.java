// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.image;

import java.util.Arrays;

/**
 * Scales images with a triangle filter: bilinear interpolation where the image grows; where it
 * shrinks, the triangle is as wide as the pixels of the result, so that all pixels of the image
 * count. It scales rows first, then columns, with samples of 8 bits between, and weights of 22
 * bits: Pillow's {@code Image.resize(size, BILINEAR)} returns the same samples.
 */
final class BilinearScaler {
  private static final int WEIGHT_BITS = 22;

  private BilinearScaler() {}

  static Pixels scale(Pixels image, int height, int width) {
    Pixels wide = image.width() == width ? image : scaleRows(image, width);
    return wide.height() == height ? wide : scaleColumns(wide, height);
  }

  private static Pixels scaleRows(Pixels image, int width) {
    int channels = image.channels();
    byte[] from = image.samples();
    byte[] to = new byte[Math.toIntExact((long) image.height() * width * channels)];
    Weights weights = Weights.of(image.width(), width);
    int place = 0;
    for (int row = 0; row < image.height(); row++) {
      int start = row * image.width() * channels;
      for (int column = 0; column < width; column++) {
        int first = start + weights.first[column] * channels;
        for (int channel = 0; channel < channels; channel++) {
          to[place++] = sum(from, first + channel, channels, weights.of[column]);
        }
      }
    }
    return new Pixels(image.height(), width, channels, to);
  }

  private static Pixels scaleColumns(Pixels image, int height) {
    int stride = image.width() * image.channels();
    byte[] to = new byte[Math.multiplyExact(height, stride)];
    Weights weights = Weights.of(image.height(), height);
    for (int row = 0; row < height; row++) {
      int first = weights.first[row] * stride;
      for (int sample = 0; sample < stride; sample++) {
        to[row * stride + sample] = sum(image.samples(), first + sample, stride, weights.of[row]);
      }
    }
    return new Pixels(height, image.width(), image.channels(), to);
  }

  private static byte sum(byte[] samples, int first, int stride, int... weights) {
    int sum = 1 << (WEIGHT_BITS - 1);
    int at = first;
    for (int weight : weights) {
      sum += (samples[at] & 0xFF) * weight;
      at += stride;
    }
    return (byte) Math.max(0, Math.min(0xFF, sum >> WEIGHT_BITS));
  }

  /**
   * The pixels of a line that each pixel of the scaled line is made of.
   *
   * @param first first of them
   * @param of their weights, whose sum is 2<sup>22</sup>
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Weights(int[] first, int[][] of) {
    static Weights of(int from, int to) {
      double scale = (double) from / to;
      double radius = Math.max(1, scale);
      Weights weights = new Weights(new int[to], new int[to][]);
      for (int i = 0; i < to; i++) {
        double centre = (i + 0.5) * scale;
        int first = Math.max(0, (int) (centre - radius + 0.5));
        int end = Math.min(from, (int) (centre + radius + 0.5));
        double[] triangle = new double[end - first];
        for (int j = 0; j < triangle.length; j++) {
          double distance = Math.abs((first + j - centre + 0.5) * (1 / radius));
          triangle[j] = Math.max(0, 1 - distance);
        }
        double sum = Arrays.stream(triangle).sum();
        weights.first[i] = first;
        weights.of[i] =
            Arrays.stream(triangle)
                .mapToInt(weight -> (int) (0.5 + weight / sum * (1 << WEIGHT_BITS)))
                .toArray();
      }
      return weights;
    }
  }
}
