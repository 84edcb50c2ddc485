// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples.vae;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class DigitImagesTest {
  /** A change of the generator changes the losses and the pictures in the documentation. */
  @Test
  void imagesAreThoseOfTheDocumentation() {
    assertThat(TrainingImages.checksum(DigitImages.image(0))).isEqualTo(1_498_860_852);
  }
}
