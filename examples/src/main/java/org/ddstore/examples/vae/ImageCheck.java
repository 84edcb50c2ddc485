// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples.vae;

import java.nio.ByteBuffer;
import java.util.zip.CRC32;
import org.ddstore.loader.LoadedBatch;

/** Compares delivered images with the checksums of their source. */
final class ImageCheck {
  private final int[] checksums;
  private final byte[] pixels = new byte[Layer.PIXELS];
  private final CRC32 checksum = new CRC32();

  /**
   * @param checksums CRC-32 of each image, by global index; not changed afterwards
   */
  ImageCheck(int... checksums) {
    this.checksums = checksums;
  }

  int mismatches(LoadedBatch batch) {
    ByteBuffer values = batch.field(TrainingImages.IMAGE).asByteBuffer();
    int mismatches = 0;
    for (int i = 0; i < batch.samples(); i++) {
      for (int p = 0; p < pixels.length; p++) {
        pixels[p] = (byte) Math.round(255 * values.getFloat());
      }
      checksum.reset();
      checksum.update(pixels);
      if ((int) checksum.getValue() != checksums[(int) batch.row(i)]) {
        mismatches++;
      }
    }
    return mismatches;
  }
}
