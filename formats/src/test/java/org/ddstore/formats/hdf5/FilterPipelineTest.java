// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.hdf5;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Chunks that the plugins of the HDF5 Group wrote: 43 integers, each three times, from 0. */
class FilterPipelineTest {
  private static final int ELEMENTS = 43;
  private static final int CHUNK_BYTES = ELEMENTS * Integer.BYTES;

  private static FilterPipeline pipeline(int id, String parameters) {
    int[] values = Arrays.stream(parameters.split(" ")).mapToInt(Integer::parseInt).toArray();
    ByteBuffer message = ByteBuffer.allocate(256).order(ByteOrder.LITTLE_ENDIAN);
    message.put((byte) 2).put((byte) 1).putShort((short) id).putShort((short) 0);
    message.putShort((short) 1).putShort((short) values.length);
    Arrays.stream(values).forEach(message::putInt);
    return FilterPipeline.read(new Cursor(message.flip(), Long.BYTES, Long.BYTES));
  }

  private static byte[] expected() {
    ByteBuffer chunk = ByteBuffer.allocate(CHUNK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < ELEMENTS; i++) {
      chunk.putInt(i / 3);
    }
    return chunk.array();
  }

  @ParameterizedTest
  @CsvSource({
    "32004, 64, 00000000000000ac000000400000001a1700010017010400170204001703040016040400500005000000000000204005000000040017060400170704001708040017090400800a0000000a00000000000016570a0000000b0400170c0400160d040050000e000000",
    "32015, 3, 28b52ffd20ac8501009800000102030405060708090a0b0c0d0e0000000e00c00830070c0346803960183002cc01c38011600e18b633620358",
    "32008, 0 4 4 16 0, 388ec00f00f000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000e338fcc0ff0000ff00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000008e0ff0ff000000000000000000000000000000000000000000000000000000000d0000000d0000000e000000",
    "32008, 0 4 4 16 2, 00000000000000ac00000040000000117f388ec00f00f000010021500000000000000000139fe338fcc0ff0000ff0001001f5000000000000000000f5f8e0ff0ff000100035000000000000d0000000d0000000e000000",
    "32008, 0 4 4 16 3, 00000000000000ac000000400000001628b52ffd20406d000038388ec00f00f00001003e81110000001828b52ffd20407d000048e338fcc0ff0000ff0001003cc1110000001428b52ffd20205d0000288e0ff0ff00010021d0020d0000000d0000000e000000",
  })
  void chunksOfPluginsAreDecoded(int id, String parameters, String hex) {
    byte[] stored = HexFormat.of().parseHex(hex);
    FilterPipeline pipeline = pipeline(id, parameters);

    assertThat(pipeline.decode(stored, 0, CHUNK_BYTES, Integer.BYTES)).isEqualTo(expected());
    assertThat(pipeline.decode(expected(), 1, CHUNK_BYTES, Integer.BYTES))
        .as("a mask leaves the filter out")
        .isEqualTo(expected());
    assertThatThrownBy(() -> pipeline.decode(stored, 0, CHUNK_BYTES / 2, Integer.BYTES))
        .as("more than the chunk has")
        .isInstanceOf(Hdf5Exception.class);
    for (int seed = 0; seed < 2000; seed++) { // damage ends in no other exception
      SplittableRandom random = new SplittableRandom(seed);
      byte[] damaged = stored.clone();
      damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
      damaged = Arrays.copyOf(damaged, damaged.length - random.nextInt(2));
      try {
        assertThat(pipeline.decode(damaged, 0, CHUNK_BYTES, Integer.BYTES))
            .as("seed %d", seed)
            .hasSizeLessThanOrEqualTo(CHUNK_BYTES);
      } catch (Hdf5Exception e) {
        assertThat(e).hasMessageContaining("the file is damaged");
      }
    }
  }
}
