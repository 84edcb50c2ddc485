// SPDX-License-Identifier: Apache-2.0
package org.ddstore.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

@ResourceLock(Resources.SYSTEM_ERR)
class RejectedTaskFilterTest {
  @Test
  void dropsStackTracesOfRejectedTasksAlone() {
    PrintStream before = System.err;
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    PrintStream captured = new PrintStream(out, true, StandardCharsets.UTF_8);
    System.setErr(captured);
    try {
      try (EmbeddedSpark.RejectedTaskFilter filter = EmbeddedSpark.RejectedTaskFilter.install()) {
        assertThat(System.err).isSameAs(filter);
        new RejectedExecutionException("of a stopped executor").printStackTrace();
        System.err.println("a line");
        new IllegalStateException("another error").printStackTrace();
      }
      assertThat(System.err).isSameAs(captured);
    } finally {
      System.setErr(before);
    }
    String printed = out.toString(StandardCharsets.UTF_8);
    assertThat(printed)
        .startsWith("a line\njava.lang.IllegalStateException: another error\n\tat ")
        .doesNotContain("RejectedExecutionException");
  }
}
