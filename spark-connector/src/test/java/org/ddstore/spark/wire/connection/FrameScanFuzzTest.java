// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.connection;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.params.provider.MethodSource;

/** Frames of Spark's network, cut at any place. */
class FrameScanFuzzTest {
  static List<byte[]> frames() {
    byte[] request =
        ByteBuffer.allocate(26).putLong(25).put((byte) 3).putLong(1).putInt(4).putInt(7).array();
    byte[] oneWay = ByteBuffer.allocate(18).putLong(17).put((byte) 9).putInt(4).array();
    return List.of(request, oneWay);
  }

  /** The verdict does not depend on where the bytes are cut; the last byte tells by whom. */
  @MethodSource("frames")
  @FuzzTest
  void frames(byte[] bytes) {
    int mode = bytes.length == 0 ? 0 : bytes[bytes.length - 1];
    boolean trusted = (mode & 1) != 0;
    FrameScan.Trouble whole =
        new FrameScan((mode & 2) != 0).check(Unpooled.wrappedBuffer(bytes), trusted);
    FrameScan cut = new FrameScan((mode & 2) != 0);
    FrameScan.Trouble found = null;
    ByteBuf all = Unpooled.wrappedBuffer(bytes);
    for (int at = 0; at < bytes.length && found == null; at++) {
      found = cut.check(all.slice(at, 1), trusted);
    }
    assertThat(Objects.equals(found, whole)).as("%s instead of %s", found, whole).isTrue();
  }
}
