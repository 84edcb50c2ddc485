// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class JniChecksTest {
  @Test
  void findsWarningsOfProjectCodeOnly() {
    List<String> lines =
        List.of(
            "<hotspot_log version='160 1'>",
            "WARNING in native method: JNI call made without checking exceptions",
            "\tat io.netty.channel.epoll.Native.epollWait(Native Method)",
            "<writer thread='7'/>",
            "WARNING: JNI local refs: 40, exceeds capacity: 35",
            "\tat org.ddstore.fabric.FabricNative.offers(Native Method)",
            "\tat org.ddstore.fabric.FabricLibrary.offers(FabricLibrary.java:90)",
            "</tty>");
    assertThat(JniChecks.warnings(lines))
        .containsExactly(String.join("\n", lines.subList(4, 7)) + "\n");
    assertThat(JniChecks.warnings(lines.subList(0, 4))).isEmpty();
  }
}
