// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.hdf5;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.ddstore.formats.ElementType;
import org.ddstore.formats.InputFile;
import org.ddstore.formats.Python;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Files of the HDF5 library have the values that it reads. */
class Hdf5FileTest {
  @TempDir static Path folder;

  @BeforeAll
  static void write() throws IOException {
    try (InputStream script = Hdf5FileTest.class.getResourceAsStream("layouts.py")) {
      Python.run(folder, new String(script.readAllBytes(), StandardCharsets.UTF_8));
    }
  }

  private static Hdf5File open(String file) throws IOException {
    Configuration hadoop = new Configuration();
    return Hdf5File.open(
        InputFile.matching(folder.resolve(file).toString(), () -> hadoop).get(0),
        LinkFolder.none());
  }

  private static String digest(Hdf5Dataset data, int step)
      throws IOException, NoSuchAlgorithmException {
    MessageDigest sha = MessageDigest.getInstance("SHA-256");
    for (long row = 0; row < data.shape()[0]; row += step) {
      int count = (int) Math.min(step, data.shape()[0] - row);
      if (data.type() == ElementType.TEXT) {
        String texts = String.join("\n", data.texts(row, count));
        sha.update(((row == 0 ? "" : "\n") + texts).getBytes(StandardCharsets.UTF_8));
      } else {
        sha.update(littleEndian(data.bytes(row, count, null), data.type().bytes()));
      }
    }
    return HexFormat.of().formatHex(sha.digest());
  }

  private static byte[] littleEndian(ByteBuffer elements, int elementBytes) {
    byte[] bytes = new byte[elements.remaining()];
    for (int i = 0; i < bytes.length; i++) {
      int b = i % elementBytes;
      int from = elements.order() == ByteOrder.LITTLE_ENDIAN ? b : elementBytes - 1 - b;
      bytes[i] = elements.get(i - b + from);
    }
    return bytes;
  }

  @ParameterizedTest
  @CsvSource({"earliest.h5, 7", "v108.h5, 64", "latest.h5, 7", "latest.h5, 1000000"})
  void everyLayoutHasTheValuesOfTheLibrary(String name, int step)
      throws IOException, NoSuchAlgorithmException {
    List<String> different = new ArrayList<>();
    int compared = 0;
    try (Hdf5File file = open(name)) {
      for (String line : Files.readAllLines(folder.resolve("expected.tsv"))) {
        String[] parts = line.split("\t", -1);
        if (!parts[0].equals(name)) {
          continue;
        }
        compared++;
        if (!digest(file.dataset(parts[1]), step).equals(parts[2])) {
          different.add(parts[1]);
        }
      }
    }

    assertThat(different).as("data sets with other values").isEmpty();
    assertThat(compared).as("compared data sets").isGreaterThan(150);
  }

  @Test
  void groupsAndAttributesOfManyEntriesAreComplete() throws IOException {
    for (String name : List.of("earliest.h5", "latest.h5")) {
      try (Hdf5File file = open(name)) {
        assertThat(file.children("links")).hasSize(1201).contains("n0", "n1199", "soft");
        for (int i = 1; i < 60; i++) {
          if (i % 5 > 0) {
            assertThat(file.integers("text", "a" + i).get()).as("a%d", i).hasSize(i % 5);
          }
        }
        assertThat(file.texts("text", "none")).isEmpty();
      }
    }
    try (Hdf5File file = open("latest.h5")) {
      assertThat(file.texts("text", "huge").get()).hasSize(9000).endsWith("column 8999");
    }
  }
}
