// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.ddstore.spark.wire.LogTap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The log after a flood of refusals. */
class RefusalLogTest {
  private final AtomicLong nowNs = new AtomicLong(Long.MAX_VALUE - 5);
  private final RefusalLog refusals = new RefusalLog(nowNs::get);
  private final LogTap log = LogTap.open();

  @AfterEach
  void close() {
    log.close();
  }

  private static SocketAddress host(int number) throws UnknownHostException {
    byte[] address = {10, 0, (byte) (number >> 8), (byte) number};
    return new InetSocketAddress(InetAddress.getByAddress(address), 1000 + number);
  }

  private List<String> lines() {
    return log.of(RefusalLog.class);
  }

  @Test
  void logsOneLinePerHostAndIntervalAndCountsTheRest() throws Exception {
    for (int i = 0; i < 500; i++) {
      refusals.report(host(1), "cause " + i % 7, "detail " + i);
    }
    refusals.reportFailure(host(2), new OutOfMemoryError("no memory"));
    assertThat(lines())
        .containsExactly(
            "peer 10.0.0.1: connection refused: cause 0: detail 0; 0 more before, further ones are"
                + " counted for 60 s",
            "peer 10.0.0.2: request failed: java.lang.OutOfMemoryError: no memory; 0 more before,"
                + " further ones are counted for 60 s");
    nowNs.addAndGet(RefusalLog.INTERVAL.toNanos());
    refusals.report(host(1), "cause", "x".repeat(10_000));
    refusals.report(host(1), "cause", null);
    assertThat(lines()).hasSize(3);
    assertThat(lines().get(2))
        .startsWith("peer 10.0.0.1: connection refused: cause: xxx")
        .contains("; 499 more before,")
        .hasSizeLessThan(400);
  }

  @Test
  void limitsTheNumberOfLinesForManyHosts() throws Exception {
    for (int i = 0; i < 5000; i++) {
      refusals.report(host(i), "cause", "");
    }
    assertThat(lines()).hasSize(RefusalLog.MAX_LINES);
  }
}
