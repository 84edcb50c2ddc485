// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.kernel;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CellStreamTest {
  private final List<String> sent = new ArrayList<>();
  private final CellStream stream = new CellStream(sent::add);

  private void print(byte... bytes) {
    stream.write(bytes, 0, bytes.length);
  }

  @Test
  void sendsWholeCharactersOnly() {
    byte[] text = "a€".getBytes(UTF_8);
    print(text[0], text[1]);
    stream.send();
    print(text[2], text[3]);
    stream.send();
    stream.send();
    assertThat(sent).containsExactly("a", "€");
  }

  @Test
  void sendsLongTextInParts() {
    String text = "é".repeat(10_000);
    print(text.getBytes(UTF_8));
    stream.send();
    assertThat(String.join("", sent)).isEqualTo(text);
    assertThat(sent).hasSizeGreaterThan(1);
  }
}
