// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples.vae;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class DigitImagesTest {
  private static final int IMAGES = 500;

  @Test
  void imagesDependOnTheirNumberAlone() {
    Set<Integer> checksums = new HashSet<>();
    for (int i = 0; i < IMAGES; i++) {
      byte[] image = DigitImages.image(i);
      assertThat(image).hasSize(Layer.PIXELS).isEqualTo(DigitImages.image(i));
      checksums.add(TrainingImages.checksum(image));
    }
    assertThat(checksums).hasSize(IMAGES);
  }

  /** A change of the generator changes the losses and the pictures in the documentation. */
  @Test
  void imagesAreThoseOfTheDocumentation() {
    assertThat(TrainingImages.checksum(DigitImages.image(0))).isEqualTo(1_498_860_852);
  }

  @Test
  void inkIsInTheMiddleAndThin() {
    for (int i = 0; i < IMAGES; i++) {
      byte[] image = DigitImages.image(i);
      int dark = 0;
      for (int p = 0; p < image.length; p++) {
        boolean isInk = (image[p] & 0xFF) > 127;
        dark += isInk ? 1 : 0;
        if (p < Layer.SIDE || p >= image.length - Layer.SIDE || p % Layer.SIDE == 0) {
          assertThat(isInk).as("ink at pixel %d of image %d, on the edge", p, i).isFalse();
        }
      }
      assertThat(dark).as("dark pixels of image %d", i).isBetween(20, 300);
    }
  }
}
