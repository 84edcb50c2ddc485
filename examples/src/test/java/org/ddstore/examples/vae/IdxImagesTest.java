// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples.vae;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;

class IdxImagesTest {
  /** Returns a file of generated images. */
  static byte[] file(int magic, int images, int rows, int columns) {
    ByteBuffer file = ByteBuffer.allocate(16 + images * rows * columns);
    file.putInt(magic).putInt(images).putInt(rows).putInt(columns);
    for (int i = 0; i < images; i++) {
      file.put(Arrays.copyOf(DigitImages.image(i), rows * columns));
    }
    return file.array();
  }

  static byte[] packed(byte... file) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
      out.write(file);
    }
    return bytes.toByteArray();
  }

  private static List<byte[]> read(byte... file) throws IOException {
    return IdxImages.read(new ByteArrayInputStream(file), "digits");
  }

  private static void assertRefused(String message, byte... file) {
    assertThatThrownBy(() -> read(file))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(message);
  }

  @Test
  void readsAllImagesPackedOrNot() throws IOException {
    byte[] file = file(0x803, 3, 28, 28);
    for (List<byte[]> images : List.of(read(file), read(packed(file)))) {
      assertThat(images).hasSize(3);
      for (int i = 0; i < 3; i++) {
        assertThat(images.get(i)).isEqualTo(DigitImages.image(i));
      }
    }
    assertThat(read(file(0x803, 0, 28, 28))).isEmpty();
  }

  @Test
  void refusesOtherFiles() {
    assertRefused(
        "digits begins with 0x00000801, a file of images in the IDX format with 0x00000803:"
            + " give such a file, as train-images-idx3-ubyte of MNIST",
        file(0x801, 2, 28, 28));
    assertRefused(
        "digits has images of 32 x 30 pixels, the network takes 28 x 28: scale the images",
        file(0x803, 2, 32, 30));
    assertRefused("digits is incomplete: copy the file again");
    assertRefused(
        "digits is incomplete: copy the file again", Arrays.copyOf(file(0x803, 2, 28, 28), 15));
  }

  @Test
  void refusesFilesThatAreTooShortOrTooLong() throws IOException {
    byte[] file = file(0x803, 2, 28, 28);
    String incomplete = "digits is incomplete: copy the file again";
    assertRefused(incomplete, Arrays.copyOf(file, file.length - 1));
    byte[] packed = packed(file);
    assertRefused(incomplete, Arrays.copyOf(packed, packed.length / 2));
    assertRefused(incomplete, Arrays.copyOf(packed, 5));
    assertRefused(
        "digits continues after its 2 images: copy the file again",
        Arrays.copyOf(file, file.length + 1));
    assertRefused(
        "digits declares -5 images, outside [0, 2,147,483,647]: copy the file again",
        ByteBuffer.wrap(file).putInt(4, -5).array());
  }

  @Test
  void refusesDamagedGzip() throws IOException {
    byte[] packed = packed(file(0x803, 2, 28, 28));
    byte[] header = packed.clone();
    header[2] = 9; // no known method of compression
    byte[] content = packed.clone();
    content[packed.length - 5] ^= 1; // in the checksum
    for (byte[] damaged : List.of(header, content)) {
      assertThatThrownBy(() -> read(damaged))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageMatching("digits is damaged \\(.+\\): copy the file again");
    }
  }
}
